sub r.ranger:0
setpose r 0.4441 -1.4222 0 -1.6476
run 1
ranges r.ranger:0
setpose r -1.2227 -1.8945 0 -2.2745
run 1
ranges r.ranger:0
setpose r -2.5926 2.7381 0 -2.8042
run 1
ranges r.ranger:0
setpose r 3.8052 -1.7788 0 -2.0485
run 1
ranges r.ranger:0
setpose r -3.7911 2 0 -0.0698
run 1
ranges r.ranger:0
setpose r -1.8061 -3.5767 0 1.5874
run 1
ranges r.ranger:0
setpose r 3.2687 -0.282 0 -0.9095
run 1
ranges r.ranger:0
