sub r.ranger:0
run 1
ranges r.ranger:0
setpose a 2 0 0 0
run 1
ranges r.ranger:0
setpose c 2 0 0 0
run 1
ranges r.ranger:0
setpose b 2 0 0 0
setpose d -2 0 0 0
run 1
ranges r.ranger:0
setpose r -0.7871 -0.7701 0 3.0237
run 1
ranges r.ranger:0
setpose r -0.9506 0.1631 0 0.1083
run 1
ranges r.ranger:0
setpose r 0.2834 0.5887 0 1.3163
run 1
ranges r.ranger:0
