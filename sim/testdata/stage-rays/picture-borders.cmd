sub r.ranger:0
setpose r 2.7000 1.8000 0 0.0000
run 1
ranges r.ranger:0
setpose r 3.3031 2.3545 0 1.7712
run 1
ranges r.ranger:0
setpose r 4.7410 2.3497 0 2.5339
run 1
ranges r.ranger:0
setpose r 0.6305 1.6641 0 2.6601
run 1
ranges r.ranger:0
setpose r 3.4204 2.7523 0 -2.3208
run 1
ranges r.ranger:0
setpose r 2.6108 1.1164 0 0.2626
run 1
ranges r.ranger:0
setpose r 3.0827 0.5328 0 -1.6996
run 1
ranges r.ranger:0
setpose r 1.7577 2.7909 0 1.5944
run 1
ranges r.ranger:0
