# A callboard with nothing around it, that runs as nobody in particular:
#
#	docker build -t callboard .
#	docker run --network host callboard serve --player r0=localhost:6665
#	docker run -p 8800:8800 -v /etc/callboard:/etc/callboard:ro callboard serve --config /etc/callboard/callboard.toml
#
# Without --network host the configuration listens on 0.0.0.0:8800, and has tokens.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags='-s -w' -o /out/usr/bin/callboard ./cmd/callboard
RUN mkdir -p /out/data /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /out /
USER 65532:65532
ENV XDG_STATE_HOME=/data
VOLUME /data
EXPOSE 8800
ENTRYPOINT ["/usr/bin/callboard"]
CMD ["serve"]
