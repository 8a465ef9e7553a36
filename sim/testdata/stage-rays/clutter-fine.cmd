sub r.ranger:0
setpose r -3.9211 3.4788 0 2.3614
run 1
ranges r.ranger:0
setpose r 2.5529 -2.3618 0 0.7982
run 1
ranges r.ranger:0
setpose r -0.5462 -2.7879 0 -1.802
run 1
ranges r.ranger:0
setpose r 2.9761 0.8626 0 0.609
run 1
ranges r.ranger:0
setpose r -2.9101 0.6976 0 2.4716
run 1
ranges r.ranger:0
setpose r -2.3892 -2.1208 0 2.7252
run 1
ranges r.ranger:0
setpose r -1.8096 -0.3178 0 2.6226
run 1
ranges r.ranger:0
