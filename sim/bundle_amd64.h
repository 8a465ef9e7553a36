// Eight rays at a time: the lanes of a bundle are lanes of registers, float64 in
// Z, int32 in Y, a bit each in K. What is done is what ray.go and walk.go do, with
// the same names, and the same to the last bit. DESIGN.md says why it is as it is.

// Constants, in all lanes.
#define SIDE Z27
#define HALF Z24
#define ZERO Y26
#define C1 Y31
#define C31 Y30
#define C32 Y29
#define MINUS1 Y28

#define CONSTANTS \
	VPBROADCASTD ·integers+0(SB), C1; \
	VPBROADCASTD ·integers+4(SB), C31; \
	VPBROADCASTD ·integers+8(SB), C32; \
	VPBROADCASTD ·integers+12(SB), MINUS1; \
	VBROADCASTSD ·floats+8(SB), SIDE; \
	VBROADCASTSD ·floats+16(SB), HALF; \
	VPXORD       ZERO, ZERO, ZERO

// Comparisons: VPCMPD LESS, b, a, k is a < b.
#define EQUAL $0
#define LESS $1
#define ATMOST $2
#define ATLEAST $5
#define ABOVE $6
#define UNORDERED $3

// QUOTIENT sets q to num / den without its fraction, for integers from 0 on. per
// is 1 / den. By the half in (num + 1/2) * per, what float64 are off by is too
// little to matter.
#define QUOTIENT(num, per, q, tmp) \
	VCVTUDQ2PD  num, tmp; \
	VADDPD      HALF, tmp, tmp; \
	VMULPD      per, tmp, tmp; \
	VCVTTPD2UDQ tmp, q

// OUT sets m and n to the steps until there have been toU or toV. k is which lanes
// leave along u.
#define OUT(toU, toV, balance, du, dv, perDu, perDv, k, m, n, tmp, tmpZ) \
	VPSUBD     C1, toU, m; \
	VPMULLD    dv, m, m; \
	VPADDD     balance, m, m; \
	VPADDD     du, m, m; \
	VPMULLD    du, toV, n; \
	VPCMPD     LESS, n, m, k; \
	VPSUBD     du, n, n; \
	VPSUBD     balance, n, n; \
	VPADDD     dv, n, n; \
	VPSUBD     C1, n, n; \
	VPBLENDMD  m, n, k, m; \
	VBLENDMPD  perDu, perDv, k, tmpZ; \
	VCVTUDQ2PD m, Z16; \
	VADDPD     HALF, Z16, Z16; \
	VMULPD     tmpZ, Z16, Z16; \
	VCVTTPD2UDQ Z16, tmp; \
	VPBLENDMD  toU, tmp, k, m; \
	VPBLENDMD  tmp, toV, k, n

// FIRST sets steps to how many there are from a cell on to the first bit of set, 32
// if there is none. down is which lanes are turned round, up the others.
#define FIRST(set, cell, down, up, steps, tmp) \
	VPSRLVD  cell, set, steps; \
	VPSLLVD  cell, set, down, steps; \
	VPSUBD   steps, ZERO, tmp; \
	VPANDD   tmp, steps, up, steps; \
	VPLZCNTD steps, steps; \
	VPSUBD   steps, C31, up, steps; \
	VPMINUD  steps, C32, steps

// LAST sets set to the cell of its last bit.
#define LAST(set, down, up, tmp) \
	VPSUBD   set, ZERO, tmp; \
	VPANDD   tmp, set, down, set; \
	VPLZCNTD set, set; \
	VPSUBD   set, C31, up, set

// PLACE sets the cell of a place u, v and where its region is in the window.
#define U Z0
#define V Z1
#define CELLU Y2
#define CELLV Y3
#define REGION Y4
#define PLACE(u, v, cellU, cellV, region, tmp) \
	VCVTTPD2DQ u, cellU; \
	VCVTTPD2DQ v, cellV; \
	VPADDD     MINUS1, cellU, K1, cellU; \
	VPADDD     MINUS1, cellV, K2, cellV; \
	VPSRAD     $5, cellU, region; \
	VPSRAD     $5, cellV, tmp; \
	VPMULLD    bundle_strideU(BX), region, region; \
	VPMULLD    bundle_strideV(BX), tmp, tmp; \
	VPADDD     region, tmp, region; \
	VPADDD     bundle_origin(BX), region, region
