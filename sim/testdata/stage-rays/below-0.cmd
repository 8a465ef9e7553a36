sub r.ranger:0
setpose r -1 -1 0 0
run 1
ranges r.ranger:0
setpose r 0 0 0 0
run 1
ranges r.ranger:0
setpose r -0.01 -0.01 0 1
run 1
ranges r.ranger:0
setpose r -3.5 -3 0 0
run 1
ranges r.ranger:0
setpose r -0.3 0.28 0 0.2
run 1
ranges r.ranger:0
setpose r 0.95 0.4 0 3
run 1
ranges r.ranger:0
setpose r 1.6 1.6 0 -2.4
run 1
ranges r.ranger:0
setpose r -1.6 -0.8 0 3.1416
run 1
ranges r.ranger:0
setpose r -3.8616 -1.8058 0 2.4277
run 1
ranges r.ranger:0
setpose r -1.2092 -4.2834 0 2.433
run 1
ranges r.ranger:0
setpose r -3.5475 -3.4913 0 2.4729
run 1
ranges r.ranger:0
setpose r -1.8908 -1.8571 0 -0.5122
run 1
ranges r.ranger:0
setpose r -0.4321 -1.6655 0 -0.1982
run 1
ranges r.ranger:0
setpose r -1.814 -0.4864 0 -0.1501
run 1
ranges r.ranger:0
