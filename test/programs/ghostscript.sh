#!/bin/sh
# test: timeout=300 label=long
# packages: ghostscript
# Ghostscript: PostScript drawn to pixels, made into PDF, and the PDF drawn again.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need gs ghostscript

cat >"$work/work.ps" <<'END'
%!PS
/rows 40 def
1 1 12 { /page exch def
  /Helvetica findfont 9 scalefont setfont
  0 1 rows { /r exch def
    0 1 30 { /c exch def
      newpath c 18 mul 30 add r 18 mul 40 add 8
      page r c add add 8 mod 1 add 45 mul 0 exch arc
      c 30 div r rows div page 12 div setrgbcolor fill
    } for
    0 setgray 20 r 18 mul 40 add moveto
    (row ) show r 10 string cvs show ( of page ) show page 10 string cvs show
  } for
  /a 3000 array def 0 1 2999 { dup a exch 3 -1 roll 7919 mul 1009 mod put } for
  /d 500 dict def 0 1 400 { dup d exch 20 string cvs cvn 3 -1 roll put } for
  gsave 300 400 translate
  0 5 355 { rotate newpath 0 0 moveto 100 20 150 80 200 0 curveto stroke } for
  grestore
  showpage
} for
END

work_gs() {
  export GS_OPTIONS='-dSAFER -dBATCH -dNOPAUSE -q'
  gs -sDEVICE=ppmraw -r100 -dNumRenderingThreads=3 -dBandHeight=100 -dMaxBitmap=0 \
    -sOutputFile=page%02d.ppm "$work/work.ps"
  cksum page*.ppm
  gs -sDEVICE=pdfwrite -sOutputFile=out.pdf "$work/work.ps"
  gs -sDEVICE=png16m -r72 -dTextAlphaBits=4 -dGraphicsAlphaBits=4 -sOutputFile=again%02d.png out.pdf
  cksum again*.png
  gs -sDEVICE=txtwrite -sOutputFile=text.txt out.pdf
  cksum text.txt
  gs -sDEVICE=jpeg -r60 -sOutputFile=j%02d.jpg -dLastPage=3 out.pdf
  cksum j*.jpg
}

is_preloaded gs --version
both work_gs
