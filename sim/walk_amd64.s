#include "go_asm.h"
#include "textflag.h"
#include "bundle_amd64.h"

// Of all lanes, while a bundle has its turn.
#define SLOT Y6
#define LEFT Y7
#define BALANCE Y8
#define DU Y9
#define DV Y10
#define M Y12
#define N Y15
#define PERDU Z19
#define PERDV Z20

// func walkBundles(b *bundle, n int, f *field)
TEXT ·walkBundles(SB), NOSPLIT, $0-24
	MOVQ    b+0(FP), R8
	MOVQ    n+8(FP), R9
	MOVQ    f+16(FP), R10
	MOVQ    field_slots(R10), SI
	MOVQ    field_heads(R10), R14
	MOVQ    field_marks(R10), DI
	MOVQ    field_full(R10), R11
	MOVBLZX field_small(R10), R12
	CONSTANTS

	// The bundles take turns: over empty regions, and through one that is not.
turn:
	MOVQ R8, BX
	MOVQ R9, CX
	XORL DX, DX

bundle:
	KMOVB     bundle_going(BX), K7
	KORTESTB  K7, K7
	JZ        next
	KMOVB     bundle_mirrorU(BX), K1
	KMOVB     bundle_mirrorV(BX), K2
	VMOVUPD   bundle_u(BX), U
	VMOVUPD   bundle_v(BX), V
	VMOVDQU32 bundle_left(BX), LEFT
	VMOVDQU32 (R11), Z10
	VMOVDQU32 64(R11), Z11

	// K4 is what is in empty regions, K5 what is in others.
	PLACE(U, V, CELLU, CELLV, REGION, Y5)
	TESTL      R12, R12
	JEQ        large
	VPSRLD     $5, REGION, Y6
	VPERMI2D   Z11, Z10, Z6
	VPRORVD    REGION, Y6, Y6
	VPTESTNMD  C1, Y6, K7, K4
	KANDNB     K7, K4, K5
	KORTESTB   K4, K4
	JZ         through
	JMP        jump

large:
	VPMINUD.BCST field_last(R10), REGION, Y6
	KMOVB      K7, K3
	VPGATHERDD (SI)(Y6*4), K3, Y5
	VPTESTNMD  Y5, Y5, K7, K4
	KANDNB     K7, K4, K5
	KORTESTB   K4, K4
	JZ         through

jump:
	KMOVB     bundle_steep(BX), K6
	VPORD     C31, CELLU, Y8
	VPADDD    C1, Y8, Y8
	VCVTDQ2PD Y8, Z8
	VPORD     C31, CELLV, Y9
	VPADDD    C1, Y9, Y9
	VCVTDQ2PD Y9, Z9
	VCVTDQ2PD LEFT, Z7
	VMOVAPD   Z7, Z25                        // left
	VSUBPD    U, Z8, Z22
	VSUBPD    V, Z9, Z23
	VADDPD.BCST ·floats+0(SB), Z22, K1, Z22  // toU
	VADDPD.BCST ·floats+0(SB), Z23, K2, Z23  // toV
	VADDPD    Z22, U, Z8                     // acrossU
	VADDPD    Z23, V, Z9                     // upV
	VMOVUPD   bundle_run(BX), Z12
	VMOVUPD   bundle_rise(BX), Z13
	VMULPD    SIDE, Z12, Z14                 // besideU
	VMULPD    SIDE, Z13, Z15                 // besideV
	VMULPD    Z13, Z22, Z16
	VMULPD    Z12, Z23, Z17
	VADDPD    Z16, Z22, Z18                  // across
	VADDPD    Z17, Z23, Z19                  // up
	VADDPD    Z16, V, Z16                    // acrossV
	VADDPD    Z17, U, Z17                    // upU
	VADDPD    SIDE, Z15, Z20                 // perAcross
	VADDPD    SIDE, Z14, Z21                 // perUp

leap:
	VCMPPD      ATMOST, Z19, Z18, K6, K3     // steep && across <= up
	VCMPPD      LESS, Z19, Z18, K0
	KORB        K0, K3, K3
	VMINPD      Z18, Z19, Z22
	VSUBPD      Z22, Z25, Z25
	VRNDSCALEPD $11, Z25, Z25                // towards 0
	VSUBPD      Z22, Z18, Z18
	VSUBPD      Z22, Z19, Z19
	VBLENDMPD   Z8, Z17, K3, Z22             // u
	VBLENDMPD   Z16, Z9, K3, Z23             // v
	VMOVAPD     Z20, K3, Z18
	VADDPD      SIDE, Z8, K3, Z8
	VADDPD      Z15, Z16, K3, Z16
	KNOTB       K3, K3
	VMOVAPD     Z21, K3, Z19
	VADDPD      Z14, Z17, K3, Z17
	VADDPD      SIDE, Z9, K3, Z9
	VMOVAPD     Z22, K4, U
	VMOVAPD     Z23, K4, V
	VMOVAPD     Z25, K4, Z7
	VPXORD      Z6, Z6, Z6
	VCMPPD      $14, Z6, Z25, K0             // left > 0
	PLACE(Z22, Z23, Y12, Y13, Y22, Y5)
	VMOVDQA32   Y12, K4, CELLU
	VMOVDQA32   Y13, K4, CELLV
	VMOVDQA32   Y22, K4, REGION
	KANDB       K0, K4, K4
	TESTL       R12, R12
	JEQ         larger
	VPSRLD      $5, Y22, Y6
	VPERMI2D    Z11, Z10, Z6
	VPRORVD     Y22, Y6, Y6
	VPTESTMD    C1, Y6, K3
	KANDB       K3, K4, K0
	KORB        K0, K5, K5
	KANDNB      K4, K3, K4
	KORTESTB    K4, K4
	JNZ         leap
	JMP         there

larger:
	VPMINUD.BCST field_last(R10), Y22, Y6
	KMOVB       K4, K3
	VPGATHERDD  (SI)(Y6*4), K3, Y5
	VPTESTMD    Y5, Y5, K4, K3
	KORB        K3, K5, K5
	KANDNB      K4, K3, K4
	KORTESTB    K4, K4
	JNZ         leap

there:
	VCVTTPD2DQ Z7, LEFT

through:
	VPMINUD.BCST field_last(R10), REGION, REGION
	KMOVB      K5, K3
	VPXORD     SLOT, SLOT, SLOT
	VPGATHERDD (SI)(REGION*4), K3, SLOT
	KMOVB      K5, K3
	VPXORD     Z11, Z11, Z11
	VPGATHERDQ (R14)(REGION*8), K3, Z11
	VPCMPD     ABOVE, ZERO, SLOT, K5, K5     // not the edge
	KORTESTB   K5, K5
	JZ         done
	VMOVDQU32  bundle_balance(BX), BALANCE
	VMOVDQU32  bundle_du(BX), DU
	VMOVDQU32  bundle_dv(BX), DV
	VMOVUPD    bundle_perDu(BX), PERDU
	VMOVUPD    bundle_perDv(BX), PERDV
	VPANDD     C31, CELLU, CELLU
	VPANDD     C31, CELLV, CELLV

	// us in Y13, vs in Y14
	KMOVB      bundle_steep(BX), K6
	VPSRLQ     $32, Z11, Z12
	VPMOVQD    Z11, Y11
	VPMOVQD    Z12, Y12
	VPBLENDMD  Y11, Y12, K6, Y13
	VPBLENDMD  Y12, Y11, K6, Y14

	VPSUBD     CELLU, C32, Y17
	VPSUBD     CELLV, C32, Y18
	OUT(Y17, Y18, BALANCE, DU, DV, PERDU, PERDV, K3, M, N, Y11, Z21)
	KNOTB      K1, K3
	FIRST(Y13, CELLU, K1, K3, Y16, Y18)
	KNOTB      K2, K6
	FIRST(Y14, CELLV, K2, K6, Y17, Y18)
	KXORB      K3, K3, K3                    // what hits
	VPCMPD     ATMOST, M, Y16, K5, K4
	VPCMPD     ATMOST, N, Y17, K4, K4        // what may hit
	KORTESTB   K4, K4
	JZ         move

	// The last row to search: the last with a mark, or where the last column with
	// one is left behind.
	LAST(Y14, K2, K6, Y18)
	VPSUBD     CELLV, Y14, Y14
	KNOTB      K1, K6
	LAST(Y13, K1, K6, Y18)
	VPSUBD     CELLU, Y13, Y13
	VPMULLD    DV, Y13, Y13
	VPADDD     BALANCE, Y13, Y13
	VPADDD     DU, Y13, Y13
	QUOTIENT(Y13, PERDU, Y13, Z21)
	VPMINSD    Y14, Y13, Y13

	// The first one: the first with a mark, or where the first column with one is
	// reached.
	VPSUBD     C1, Y16, Y18
	VPMULLD    DV, Y18, Y18
	VPADDD     BALANCE, Y18, Y18
	VPADDD     DU, Y18, Y18
	VPTESTMD   Y16, Y16, K3
	QUOTIENT(Y18, PERDU, Y18, Z21)
	VPMAXUD    Y18, Y17, K3, Y17             // rows to it
	VPTESTMD   Y17, Y17, K3
	VPSUBD     Y17, Y13, Y13                 // rows to come after it
	VPCMPD     ATLEAST, ZERO, Y13, K4, K4
	KORTESTB   K4, K4
	JZ         missed
	VPADDD     CELLV, Y17, Y21               // v
	VPMULLD    DU, Y17, Y18
	VPSUBD     BALANCE, Y18, Y16
	VPADDD     DV, Y16, Y16
	VPSUBD     C1, Y16, Y16
	VPSUBD     DU, Y16, Y17
	QUOTIENT(Y16, PERDV, Y16, Z22)           // along u to its end
	QUOTIENT(Y17, PERDV, Y17, Z23)
	VMOVDQA32.Z Y17, K3, Y17                 // along u to its begin

	// The balance at the end of a row's run says whether the next run has a step
	// more than the least.
	VMOVDQU32  bundle_gait(BX), Y23
	VPADDD     Y16, Y23, Y22
	VPMULLD    DV, Y22, Y22
	VPADDD     BALANCE, Y22, Y22
	VPSUBD     Y18, Y22, Y22
	VPSUBD     DU, Y22, Y22
	VPMULLD    DV, Y23, Y25
	VPSUBD     DU, Y25, Y25                  // what the balance changes by
	VPSUBD     Y17, Y16, Y18                 // steps of the run
	VPADDD     CELLU, Y17, Y17               // u
	VPADDD     SLOT, SLOT, Y20
	KMOVB      bundle_steep(BX), K3
	VPADDD     C32, Y20, K3, Y20             // the first line of the marks
	VPXORD     C31, Y21, K2, Y21             // v as lines are counted
	VMOVDQA32  C1, Y8
	VPSUBD     C1, ZERO, K2, Y8              // to the next line
	KXORB      K3, K3, K3
	KMOVB      K5, K0

	// Those that search the same lines go together: K5, of whom all are in K2.
lines:
	VPCOMPRESSD Y20, K4, Y14
	VMOVD       X14, R13
	VPBROADCASTD X14, Y14
	VPCMPD      EQUAL, Y14, Y20, K4, K5
	KANDNB      K4, K5, K4
	KMOVB       K5, K2
	VMOVDQU32   (DI)(R13*4), Z11
	VMOVDQU32   64(DI)(R13*4), Z14

row:
	VMOVDQA32 Y21, Y16
	VPERMI2D  Z14, Z11, Z16
	VPSRLVD   Y17, Y16, Y5
	VPSLLVD   Y17, Y16, K1, Y5
	VPTESTMD  Y5, Y5, K7
	VPSUBD    Y5, ZERO, Y16
	VPANDD    Y16, Y5, K6, Y5
	VPLZCNTD  Y5, Y5
	VPSUBD    Y5, C31, K6, Y5
	VPCMPUD   ATMOST, Y18, Y5, K7, K7
	KANDB     K5, K7, K7
	VPADDD    Y17, Y5, K7, M                 // u of the hit
	VMOVDQA32 Y21, K7, N                     // v
	KORB      K7, K3, K3
	KANDNB    K5, K7, K5
	VPADDD    Y18, Y17, K2, Y17
	VPADDD    Y8, Y21, K2, Y21
	VPSUBD    C1, Y13, K2, Y13
	VPCMPD    ATLEAST, ZERO, Y13, K7
	KANDB     K7, K5, K5
	VPSRAD    $31, Y22, Y16
	VPSUBD    Y16, Y23, K2, Y18
	VPANDD    DV, Y16, Y16
	VPADDD    Y25, Y16, Y16
	VPADDD    Y16, Y22, K2, Y22
	KORTESTB  K5, K5
	JNZ       row
	KORTESTB  K4, K4
	JNZ       lines

	KMOVB  K0, K5
	KMOVB  bundle_mirrorV(BX), K2
	KANDB  K3, K2, K2
	VPXORD C31, N, K2, N
	VPSUBD CELLU, M, K3, M
	VPSUBD CELLV, N, K3, N
	JMP    move

missed:
	KXORB K3, K3, K3

move:
	VMOVDQA32.Z M, K5, M
	VMOVDQA32.Z N, K5, N
	VPSLLD    $5, REGION, Y13
	VPADDD    CELLV, N, Y14
	VPADDD    Y14, Y13, Y13
	VPSLLD    $5, Y13, Y13
	VPADDD    CELLU, M, Y14
	VPADDD    Y14, Y13, Y13                  // at
	VPADDD    M, N, Y16
	VPSUBD    Y16, LEFT, LEFT
	VMOVDQU32 LEFT, bundle_left(BX)
	VPCMPD    ABOVE, ZERO, LEFT, K5, K5
	VPMULLD   M, DV, Y16
	VPMULLD   N, DU, Y17
	VPADDD    bundle_balance(BX), Y16, BALANCE
	VPSUBD    Y17, BALANCE, BALANCE
	VMOVDQU32 BALANCE, bundle_balance(BX)
	VCVTDQ2PD M, Z16
	VCVTDQ2PD N, Z17
	VADDPD    Z16, U, U
	VADDPD    Z17, V, V
	VMOVUPD   U, bundle_u(BX)
	VMOVUPD   V, bundle_v(BX)
	KANDB     K3, K5, K4
	VMOVDQU32 Y13, K4, bundle_at(BX)
	KMOVB     bundle_hits(BX), K6
	KORB      K4, K6, K6
	KMOVB     K6, bundle_hits(BX)
	KANDNB    K5, K3, K5

done:
	KMOVB K5, bundle_going(BX)
	KMOVB K5, AX
	ORL   AX, DX

next:
	ADDQ  $bundle__size, BX
	DECQ  CX
	JNZ   bundle
	TESTL DX, DX
	JNZ   turn

	// What has been hit, and how far away. Of each slot the ranger_return stands
	// behind its marks.
	VBROADCASTSD field_length(R10), Z20
	VBROADCASTSD field_perCell(R10), Z21
	MOVQ         field_ranges(R10), BX
	MOVQ         field_returned(R10), CX

result:
	KMOVB      bundle_hits(R8), K6
	VPSRLD     $10, bundle_at(R8), Y4
	KMOVB      K6, K3
	VPXORD     SLOT, SLOT, SLOT
	VPGATHERDD (SI)(Y4*4), K3, SLOT
	KMOVB      K6, K3
	VPXORD     Z5, Z5, Z5
	VGATHERDPD marks__size(DI)(Y6*8), K3, Z5
	VMOVUPD    Z5, (CX)
	VCMPPD     UNORDERED, Z5, Z5, K3
	KMOVB      K3, bundle_mixed(R8)
	VMOVUPD    bundle_u(R8), U
	VMOVDQU32  bundle_du(R8), DU
	VPCMPD     EQUAL, bundle_dv(R8), DU, K3
	VMOVUPD    bundle_v(R8), K3, U
	VSUBPD     bundle_from(R8), U, U
	VMULPD     bundle_per(R8), U, U
	VMULPD     Z21, U, U
	VBLENDMPD  U, Z20, K6, U
	VMOVUPD    U, (BX)
	ADDQ       $64, BX
	ADDQ       $64, CX
	ADDQ       $bundle__size, R8
	DECQ       R9
	JNZ        result
	VZEROUPPER
	RET
