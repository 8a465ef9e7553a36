sub r.all
sub r.list
sub r.back
sub r.wide
run 1
blobs r.all
blobs r.list
blobs r.back
blobs r.wide
setpose r 1 -1 0 0.3
run 1
blobs r.all
blobs r.list
blobs r.back
blobs r.wide
unsub r.all
blobs r.all
