sub r.b
sub r.f
sub r.p
setpose r 1.933 3.374 0 -2.858
run 1
blobs r.b
fid r.f
bump r.p
setpose r -0.3 -2.412 0 0.787
run 1
blobs r.b
fid r.f
bump r.p
setpose r 2.178 -2.898 0 1.078
run 1
blobs r.b
fid r.f
bump r.p
setpose r 1.097 0.829 0 2.386
run 1
blobs r.b
fid r.f
bump r.p
setpose r -3.93 -1.712 0 -0.72
run 1
blobs r.b
fid r.f
bump r.p
setpose r -2.777 1.321 0 2.773
run 1
blobs r.b
fid r.f
bump r.p
setpose r -2.529 2.813 0 2.545
run 1
blobs r.b
fid r.f
bump r.p
setpose r 3.927 3.405 0 -1.102
run 1
blobs r.b
fid r.f
bump r.p
setpose r -3.709 1.597 0 2.244
run 1
blobs r.b
fid r.f
bump r.p
setpose r 1.115 -1.492 0 -1.032
run 1
blobs r.b
fid r.f
bump r.p
