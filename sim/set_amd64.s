#include "go_asm.h"
#include "textflag.h"
#include "bundle_amd64.h"

DATA ·integers+0(SB)/4, $1
DATA ·integers+4(SB)/4, $31
DATA ·integers+8(SB)/4, $32
DATA ·integers+12(SB)/4, $-1
GLOBL ·integers(SB), RODATA|NOPTR, $16

DATA ·floats+0(SB)/8, $1.0
DATA ·floats+8(SB)/8, $32.0
DATA ·floats+16(SB)/8, $0.5
DATA ·floats+24(SB)/8, $0x7FFFFFFFFFFFFFFF // all but the sign
DATA ·floats+32(SB)/8, $0x8000000000000000
GLOBL ·floats(SB), RODATA|NOPTR, $40

// func setOut(b *bundle, sin, cos *[lanes]float64, f *field)
TEXT ·setOut(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), BX
	MOVQ sin+8(FP), AX
	MOVQ cos+16(FP), CX
	MOVQ f+24(FP), SI
	CONSTANTS

	VMOVUPD      (AX), Z0                    // sin
	VMOVUPD      (CX), Z1                    // cos
	VPMOVQ2M     Z1, K1                      // down x
	VPMOVQ2M     Z0, K2                      // down y
	VMULPD.BCST  field_reach(SI), Z1, Z2
	VMULPD.BCST  field_reach(SI), Z0, Z3
	VCVTTPD2DQ   Z2, Y2
	VCVTTPD2DQ   Z3, Y3
	VPABSD       Y2, Y2                      // ax
	VPABSD       Y3, Y3                      // ay
	VPCMPD       LESS, Y3, Y2, K3            // steep
	VPCMPD       EQUAL, Y3, Y2, K4           // ax == ay
	KMOVB        K3, bundle_steep(BX)

	KANDNB K1, K3, K6
	KANDB  K2, K3, K7
	KORB   K6, K7, K6
	KMOVB  K6, bundle_mirrorU(BX)
	KANDNB K2, K3, K6
	KANDB  K1, K3, K7
	KORB   K6, K7, K6
	KMOVB  K6, bundle_mirrorV(BX)

	// left, balance, du, dv
	VPADDD       Y2, Y3, Y11
	VMOVDQU32    Y11, bundle_left(BX)
	KMOVB        bundle_going(BX), K5
	VPCMPD       ABOVE, ZERO, Y11, K5, K5
	VPSUBD       Y2, Y3, Y8
	VPSUBD       Y8, MINUS1, K3, Y8
	VMOVDQU32    Y8, bundle_balance(BX)
	VPMAXSD      Y2, Y3, Y9
	VPMINSD      Y2, Y3, Y10
	VPADDD       Y9, Y9, Y9
	VPADDD       Y10, Y10, Y10
	VMOVDQU32    Y9, bundle_du(BX)
	VMOVDQU32    Y10, bundle_dv(BX)
	VBROADCASTSD ·floats+0(SB), Z7
	VCVTDQ2PD    Y9, Z19
	VDIVPD       Z19, Z7, Z19
	VMOVUPD      Z19, bundle_perDu(BX)
	VPMAXSD      C1, Y10, Y2
	VCVTDQ2PD    Y2, Z20
	VDIVPD       Z20, Z7, Z20
	VMOVUPD      Z20, bundle_perDv(BX)
	QUOTIENT(Y9, Z20, Y2, Z3)
	VMOVDQU32    Y2, bundle_gait(BX)

	// rise, run, per
	VMULPD       Z1, Z0, Z5
	VDIVPD       Z5, Z7, Z5
	VANDPD.BCST  ·floats+24(SB), Z5, Z5      // perBoth
	VBLENDMPD    Z1, Z0, K3, Z6              // of the angle from u
	VBLENDMPD    Z0, Z1, K3, Z7
	VMULPD       Z6, Z6, Z2
	VMULPD       Z5, Z2, Z2
	VMOVUPD      Z2, bundle_rise(BX)
	VMULPD       Z7, Z7, Z2
	VMULPD       Z5, Z2, Z2
	VMOVUPD      Z2, bundle_run(BX)
	VMOVAPD      Z7, K4, Z6
	VMULPD       Z5, Z6, Z6
	VANDPD.BCST  ·floats+24(SB), Z6, Z6
	VMOVUPD      Z6, bundle_per(BX)

	// u, v, from
	VBROADCASTSD field_x(SI), Z2
	VBROADCASTSD field_y(SI), Z3
	VXORPD.BCST  ·floats+32(SB), Z2, K1, Z2
	VXORPD.BCST  ·floats+32(SB), Z3, K2, Z3
	VBLENDMPD    Z3, Z2, K3, U
	VBLENDMPD    Z2, Z3, K3, V
	VMOVAPD      U, Z2
	VMOVAPD      V, K4, Z2
	VMOVUPD      Z2, bundle_from(BX)
	MOVB         $0, bundle_hits(BX)

	// strideU, strideV, origin
	VPBROADCASTD field_width(SI), Y2
	VPSUBD       Y2, ZERO, K2, Y2            // along y
	VMOVDQA32    C1, Y3
	VPSUBD       C1, ZERO, K1, Y3            // along x
	VPBLENDMD    Y2, Y3, K3, Y4
	VMOVDQU32    Y4, bundle_strideU(BX)
	VPBLENDMD    Y3, Y2, K3, Y4
	VMOVDQU32    Y4, bundle_strideV(BX)
	VPBROADCASTD field_origin(SI), Y4
	VPADDD       Y2, Y4, K2, Y4
	VPADDD       Y3, Y4, K1, Y4
	VMOVDQU32    Y4, bundle_origin(BX)

	CMPB field_isFree(SI), $0
	JEQ  set

	// leave
	VPBROADCASTD field_free+0(SI), Y2
	VPBROADCASTD field_free+4(SI), K1, Y2    // along x
	VPBROADCASTD field_free+8(SI), Y3
	VPBROADCASTD field_free+12(SI), K2, Y3   // along y
	VPBLENDMD    Y3, Y2, K3, Y4
	VPBLENDMD    Y2, Y3, K3, Y5
	OUT(Y4, Y5, Y8, Y9, Y10, Z19, Z20, K4, Y12, Y13, Y14, Z15)
	VPSUBD       Y12, Y11, Y11
	VPSUBD       Y13, Y11, Y11
	VMOVDQU32    Y11, bundle_left(BX)
	VPCMPD       ABOVE, ZERO, Y11, K5, K5
	VPMULLD      Y12, Y10, Y2
	VPMULLD      Y13, Y9, Y3
	VPADDD       Y2, Y8, Y8
	VPSUBD       Y3, Y8, Y8
	VMOVDQU32    Y8, bundle_balance(BX)
	VCVTDQ2PD    Y12, Z2
	VCVTDQ2PD    Y13, Z3
	VADDPD       Z2, U, U
	VADDPD       Z3, V, V

set:
	VMOVUPD U, bundle_u(BX)
	VMOVUPD V, bundle_v(BX)
	KMOVB   K5, bundle_going(BX)
	VZEROUPPER
	RET
