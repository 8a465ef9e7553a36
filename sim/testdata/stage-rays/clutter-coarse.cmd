sub r.ranger:0
setpose r -10.7192 2.7411 0 -1.8183
run 1
ranges r.ranger:0
setpose r 7.535 3.854 0 0.8
run 1
ranges r.ranger:0
setpose r -6.219 -0.9596 0 3.0042
run 1
ranges r.ranger:0
setpose r 0.2381 4.0105 0 1.6595
run 1
ranges r.ranger:0
setpose r -5.2251 -4.6459 0 2.979
run 1
ranges r.ranger:0
setpose r 4.8993 -7.7736 0 0.1947
run 1
ranges r.ranger:0
setpose r -4.3281 4.1243 0 1.1007
run 1
ranges r.ranger:0
