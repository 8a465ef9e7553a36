sub r.ranger:0
setpose r 0 0 0 0
run 1
ranges r.ranger:0
setpose r 0 0 0 0.7854
run 1
ranges r.ranger:0
setpose r 1 -1 0 1.5708
run 1
ranges r.ranger:0
setpose r -5.1493 -2.1603 0 1.3036
run 1
ranges r.ranger:0
setpose r 0.5009 -3.0824 0 -0.6637
run 1
ranges r.ranger:0
setpose r -5.4408 4.1186 0 1.4939
run 1
ranges r.ranger:0
setpose r -5.4213 4.1611 0 -0.6739
run 1
ranges r.ranger:0
setpose r 4.7969 2.3212 0 -1.635
run 1
ranges r.ranger:0
setpose r 0.9853 -3.133 0 -1.6049
run 1
ranges r.ranger:0
setpose r -4.6069 1.6908 0 -1.4595
run 1
ranges r.ranger:0
setpose r -1.1161 -1.1402 0 2.4091
run 1
ranges r.ranger:0
