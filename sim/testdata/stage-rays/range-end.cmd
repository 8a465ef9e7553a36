sub r.ranger:0
setpose r 0 0 0 0
run 1
ranges r.ranger:0
setpose r -0.05 0 0 0
run 1
ranges r.ranger:0
setpose r 0 0 0 0.5
run 1
ranges r.ranger:0
setpose r -0.004 0.0148 0 0.8546
run 1
ranges r.ranger:0
setpose r 0.0011 0.0645 0 -0.8995
run 1
ranges r.ranger:0
setpose r -0.0009 -0.051 0 -0.328
run 1
ranges r.ranger:0
setpose r 0.0157 0.0939 0 2.8447
run 1
ranges r.ranger:0
setpose r 0.0697 -0.0471 0 -2.1669
run 1
ranges r.ranger:0
setpose r -0.0115 -0.0618 0 1.9505
run 1
ranges r.ranger:0
setpose r -0.005 0.0643 0 1.5045
run 1
ranges r.ranger:0
setpose r 0.0432 -0.0272 0 -2.2992
run 1
ranges r.ranger:0
