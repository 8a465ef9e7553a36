sub r.ranger:0
setpose r -1.5291 -1.7458 0 1.3981
run 1
ranges r.ranger:0
setpose r 2.7378 0.1609 0 1.3431
run 1
ranges r.ranger:0
setpose r 2.8699 -1.1377 0 -2.4689
run 1
ranges r.ranger:0
setpose r -1.6984 -1.9264 0 -2.4792
run 1
ranges r.ranger:0
setpose r -0.9106 1.0366 0 2.3397
run 1
ranges r.ranger:0
setpose r 0.6999 -1.7808 0 -0.2891
run 1
ranges r.ranger:0
setpose r 2.5768 1.388 0 -2.8715
run 1
ranges r.ranger:0
setpose r -1.636 -0.9176 0 0.0987
run 1
ranges r.ranger:0
