// SPDX-License-Identifier: MIT
// text.normalizer: canonical composition (NFC); any CPU; exact for the Unicode version named below.
// applies: tokenizer.normalizer=nfc
// requires: text.utf8
#include "text_normalizer.h"

#include <unordered_map>

#include "text_utf8.h"

namespace {

// Base-28 numbers: digits '#'..'>' go on, a digit '`'..'{' ends the number. Written by text-unicode/generate-tables.ts.
// class_runs: length of a run, then the combining class behind it. mappings: per code point that decomposes, 2·distance
// to the one before (+ 1: never composes), then the change of the first and of the second part, folded to be positive.
// begin generated
// Unicode 17.0
constexpr std::string_view class_runs =
  ">l+fu+ha*xd+ha*ta*xe*fb*xd*fb*xkae*xd+fc`b+fa`b+pa+fa*xc+fc*xb`a+fc*xd+fa+ha*xb+fa+ia+jb+ia+jb+ia+fm`,w+fe`,m*xa+f"
  "d*xa+fc*za*xa+ff*xf+fb*xa+fb*za+da+fajakalamanaoapaqarasbtauava`awa`axaya`a+fa*xa`ara`%p+fh$ba$ca$da`$t{a$`a$aa$ba"
  "$ca$da$ea$fa+fb*xb+fe*xa+fb*xa`p$ga`&q+fg`b+fd*xa+fa`b+fb`a*xa+fb*xa`$g$ha`$b+fa*xa+fb*xa+fb*xc+fa*xb+fa*xa+fc*xa+"
  "fa*xa+fa*xa+fa*xa+fb`(t+fg*xa+fa`i*xa`x+fd`a+fi`a+fc`a+fe`$o*xc`%c+fb*xc+fd`$n+fe*xe+fn`a*xa+fb*xa+fb*xa+fc*xc{a$`"
  "a$aa+fc*xa+fb*xb+fe`%dga`pia`c+fa*xa+fb`&sga`pia`$t+fa`%ega`pia`&zga`pia`&zga`pia`'oia`&zga`pia`g&`a&ga`&qga`pia`&"
  "yib`pia`'lia`&y&sbia`m&wd`&x'fbia`m'jd`%t*xb`{*xa`a*xa`a*ta`${'qa'ra`a'ta`e'rd`b'ra`a+fbia`a+fb`%f*xa`'`ga`aib`%z*"
  "xa`<s+fc`$(xib`$bia`(qia`j+fa`*g+da`(c*za+fa*xa`*w+fa*xa`%oia`t+fh`b*xa`$t+fe*xf+fb*xa`a*xb+fb*xb+fe*xa+fr*xa`b+ff"
  "*xa+fd+ja`%pga`oia`$j+fa*xa+fg`$zib`%bga`kib`%kga`(l+fc`aaa*xe+fb*xd+fa`aag`d*xa`f+fa`c+fb`*b+fb*xa+fg*xa+fb+ja*ra"
  "*xa*fa+f$i+ha+db*xa*va+fa+ia*xa+fa*xa`<t+fbab+fdac+fb`d+fa`cab+fa*xa+faab*xd+fa`&<r+fc`(aia`&l+f$d`6v*va+da+ha*za+"
  "`b`&uhb`$-0h+fa`d+fj`$d+fb`%x+fb`,xia`$iia`(kia`{+fr`%a*xc`$iia`&kga`lia`+o+fa`a+fb*xa`b+fb`e+fb`a+fa`$xia`+via`<;"
  "`za`>m+fg*xg+fb`$)u*xa`+b*xa`(i+fe`%'b*xa`a+fa`$l+faaa*xa`dia`(y+fa*xa`7m+fd`%i+fe`.i+fb`%u*xb`a*xc`%n*xb+fc*xa+fa"
  "*xd`$u+fa*xa+fa*xa`)xia`$mia`nia`%aiaga`%m+fc`$tib`%fga`%tia`iga`&viaga`)jgaia`%xgb`pia`x+fg`c+fe`&eic`'aia`cga`w+"
  "fa`&oiaga`+{iaga`'nia`'fiaga`'cia`,qiaga`,fib`dga`(pia`%{ia`ria`%yia`2aia`,fga`aib`%yia`2eib`81tia`&(dae`%c+fg`$2e"
  "fb`<$`aa`)8z*tbac`c+ba*te`h*xh`b+fe*xb`$b+fd`(h+fc`'0o+fg`a+fq`b+fg`a+fb`a+fe`&p+fa`(t+fg`0k+fa`%e+fd`5d+hb*xa+fa`"
  ",b+fa*xa`+s+fa`b+fa`g+fb`e+fa`3z*xg`&y+ffga`";
constexpr std::string_view mappings =
  "0t'r$=xb`bb`bb`bb`jb`ddd%bbd%ub`bb`bb`lbhob`bb`bb`ldjibbeb`bb`bb`bb`jflob`bb`bb`lbhmfpab`bb`bb`bb`jb`ddd%bbd%ub`bb"
  "`bb`lbhob`bb`bb`ldjibbeb`bb`bb`bb`jflob`bb`bb`lbhmd`nb&{gb%h`b%gdb%h`b%g%lb%h`b%c%ub%h`b%gbb%h`b%gjb%h`b%gjb%h`b%e"
  "`b%h`f%eob%h`b%gdb%h`b%gbb%h`b%g%jb%h`b%g${b%h`b%csb%h`b%ghb%h`b%gbb%h`b%g%hb%h`b%e%qb%h`f%ebb%h`b%gbb%h`b%gdb%h`b"
  "%g%lb%h`b%g%ihbib%h`b%e%rb%h`d%e%sb%h`b%g%tb%h`b%g$yb%h`j%cub%h`b%g%tb%h`b%g$yb%h`h%eob%h`b%gdb%h`b%gjb%h`f%asb%h`"
  "b%g%tb%h`b%g$yb%h`b%eub%h`b%gbb%h`b%g%rb%h`b%g$yb%h`b%e$zb%h`b%g$yb%h`f%eqb%h`b%gbb%h`b%gdb%h`b%ghb%h`b%gbb%h`b%g%"
  "bb%h`b%c%sb%h`b%c`b%h`b%glbbmb%h`b%glb%h`b%gjb%h`%l&a$bb%h`$`$w`b%h`%b&s$ab%h`b$s`b%h`b$w`b%h`b$w`b%h`b*job%h`b%ge"
  "b%h`b%gvb%h`b%gwb%h`d&{hb%h`b:``bb`b<e`b%h`f.ipb%h`b${`b%h`b${%`b%h`b>b%obb`b&spb2r`b$.k`h%mub%h`f$uab%h`b)fbb%h`b"
  "%e`b%h`b{`b%h`b0a$`b%h`b%gdb%h`b${cb%h`b%gdb%h`b${cb%h`b%gdb%h`b$wcb%h`b%gdb%h`b%acb%h`b%gdb%h`b%acb%h`b%gdb%h`b%k"
  "$nb%h`b%e`b%h`f&c$wb%h`n%uib%h`b${%hb%h`b+b%mb%h`b%i`b%h`b.wfb%h`b$&zebb`b$(o`b%h`6g$5f$>ccb`e$h`cu$=z&m(q$=yu$4o`"
  "n*v$=zb$<f`c$;c$=yb$;l$=zbd`bd`dl`dl`bh`b%j`$x&mnbx`bxmbh`bd`bd`b$h`$x$gnbx`bkmbl`bh`jr`b`n&d'vob`pdcmhynj$lmbcabv"
  "lvu`%h%h`$rekb`pdcmh%nnj${mbcabvl$t&nrbb`(h)uqb%h`$`%s`b%h`b%gdb%h`f$ycb%h`f.rdbb`b0y`b%h`b%e`b%h`f%egb%h`b%ghb%h`"
  "b$w`b%h`f/d`bb`b0k`b%h`b%{gb%h`b%ghb%h`b%gfb%h`b${eb%h`f${`b%h`8f$)`%'fb`bb%j`b%ibb%na.`,z`d$k`$f$f`$1t$1t$<dpp`ff"
  "`%q%c`cb`cb`cj`cj`cb`cr`ch`*t-x,hb`$v$e%s$ycb`ez`)a,j,dgl`%o%k`cb`cj`g$b`3t7h7df`$sb`$v$e%s$ycb`&z+`.b&x&t$ubb`ba$"
  "v+x,d,b+p+r,bnn`b`bd`$kbh$j,b+x*nbb`ba$v-d-n+fd`jbfibe$n<o<v$(tut`kj`kj`kj`{$ycu&n'ue`dc'rxeb`s's`$i%j&zut`kj`kj`k"
  "j`{$yc*v-r+r*%x*%x*(rdd`dd`dd`dd`hh`%z%z`dd`fd`bb`df`$9b44u26{b%h`b%e%cb%h`b%g%`b%h`b%g$`b%h`b*f&kb%h`b.qlb%h`b%g%"
  "`b%h`b%g$`b%h`b%gsb%h`b%glb%h`b/l&ebb`babbb`b1s&db%h`b%gfb%h`b$'f%{bb`b$)mbb%h`b%eeb%h`b%efb%h`b%g%`b%h`b%g$yb%h`b"
  "%g%fb%h`b%gnb%h`b%edb%h`b*h&ib%h`b.s`b%h`b%g%lb%h`b%g$`b%h`b%e{b%h`b6/t%ebb`b62a&fb%h`b%ggb%h`b%e&cb%h`b%glb%h`b%g"
  "%`b%h`b%e${b%h`b%g%`b%h`b%g$`b%h`b%ggb%h`b*j&cb%h`b%gnb%h`b)fobb`babbb`b5a`b%h`b%glb%h`b%c`b%h`b%g%`b%h`b61x%ebb`b"
  "64e&fb%h`b%e%{b%h`b%g%`b%h`b3n${bb`bj`bb`b5=j`bb`b64q`b%h`b%g%`b%h`b%g$`b%h`b%ggb%h`b%eqb%h`b%gxb%h`b%geb%h`b4j&cb"
  "b`bbnbb`b6uib%h`b%g%hb%h`b%e%mb%h`b%gbb%h`b%gnb%h`b%gab%h`b%g%`b%h`b%e${b%h`b%gbb%h`b%eab%h`b%eib%h`b%g%jb%h`b%g$`"
  "b%h`b$g`bx%ybfdbd`d5tej9s%`b%h`b%g$wb%h`b)zob%h`b%gab%h`b%grb%h`b%gkb%h`b6.xabb`b6,qabb`baabb`barbb`bakbb`b6,nfbb`"
  "b6:c%bb%h`b%g$wb%h`b%gkb%h`b*fcb%h`b%gab%h`b%grb%h`b%gkb%h`b60`abb`b6;onb%h`b%g$xb%h`b$w`b%h`b%g$wb%h`b*fob%h`b%ga"
  "b%h`b%grb%h`b%gkb%h`b60tabb`b6$mabb`baabb`barbb`bakbb`ba%hbb`b:s`b%h`b%g$wb%h`b9lobb`baabb`barbb`bakbb`ba%hbb`b;m%"
  "mb%h`b%g%nb%h`b%g$wb%h`b%gkb%h`n%%x$db`bb4:j$kbb`babbb`ba'rbb`b4<s&ib`bb4=f$kbb`babbb`ba'rbb`b4:s&ib`bb4;f$kbb`bab"
  "bb`f4=o$hb`bb4>b$kbb`babbb`f4;s$hb`bb4<f$kbb`babbb`ba'rbb`b4>o&ib`bb5#b$kbb`babbb`ba'rbb`b4<s&ib`bb4=f$kbb`babbb`b"
  "a'rbb`b5#o&ib`bb5$b$kbb`babbb`ba'rbb`b4=k&ib`bb4=z$kbb`babbb`f5$g$hb`bb5$v$kbb`babbb`f4>c$hb`bb4>r$kbb`babbb`ba'rb"
  "b`d5${&gd5%p$kd`bd`'rb4>{&ib`bb5#n$kbb`babbb`ba'rbb`b5%w&ib`bb5&j$kbb`babbb`ba'rbb`b5%w'sc`bbhac`bbdac`bbdac`bblac"
  "`bblac`bbhac`bf48r'xbb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`b$f`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`"
  "b&n`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`bb`b5&g'mb`cb5&j'rb5&i`bi`djeb5+jfb5-q'mb`cb`gc`bb`'xe%x%&uf%#a%&pb7"
  "&dfb5&e`bq`dreb5,bfb5.m'yc`bbdac`bb`'xb5-x'yb`bb`'rb5+k'gb`cb$fgc`bf$e'rb$f`b&m'gb`cb`gc`bd52fab`bb`'rb5/a'gb`cblg"
  "c`bbs$hb`bbh&hbl`b%s'gb`cb`gc`bbg$jb$=i$kc`bc(c$=yf7+x%&vb5%m`bj`dieb5.ffb51e'yc`bbtac`bb`'xc$=a%&ug7/l`cb`7{51k`i"
  "%(o`cs$>p*z88b&hbd`$jd`%f'h`bh`bc`&v&n`jj`ff`$t$t`dd`$z$r`fn`fd`df`$r9)m`d9+h`v$k`b9)y`bd`b9+l`bb`fz`bb`ff`bb`nf`b"
  "b`fn`bb`ff`bb`%n$z`bl`bb`bd`&n&i`bb`b$l`bb`n%h`bb`bb`bb`'i+6r%%wcb`(#u&-o%%x&2l&2h$$4vdd`dd`dd`dd`dd`dd`dd`dd`dd`d"
  "d`dd`ff`dd`dd`nn`b`bdfab`bdfab`bdfab`bdfab`b$r&uat)f`$`$``dd`dd`dd`dd`dd`dd`dd`dd`dd`dd`dd`ff`dd`dd`nn`b`bdfab`bdf"
  "ab`bdfab`bdfab`b$r&uaf(f`bb`bb`bb`hv`'54i%&4j$&7qc;-o`c=#l`c$+s`c62y`c8+m`c&7f`c$8/n`c``c$4<i`c$+<d`c$.-k`c%/r`c(5"
  "t`c0,z`c(=p`c'.``c>b`c9t`c'=v`c<'y`c%#r`c%/l`c$>f`c-6j`c+3z`c(2z`c$8*i`c&)n`c2-v`c'4r`c0&``c24v`c$1+{`c/'f`c1+d`c%"
  ",r`c<(y`c7*z`c'%v`c=>u`c(.v`c'&r`c&4x`c60h`c$14s`c$/b`c8b`c.6h`c&=v`c'7j`c&'n`c(=l`c&=b`c)d`c'=n`c)$j`c%8n`c$5n`c;"
  "/k`c4j`c%6n`c'#r`c,=n`c*0z`c/:m`c$'4q`c'#j`c6'x`c%6h`c,({`c'(d`c0$d`c)5r`c$/2y`c%+t`c+=j`c%0b`c9b`c,)h`c5x`c27h`c$"
  "3$u`c$$;b`c$%0q`c$c`c=,d`c%-l`c'$j`c/%p`c*'i`c=3a`c'6r`c82d`c$.6e`c+=d`c%7f`c/6v`c$)z`c9/a`c;7x`c=<{`c-.``c.0{`c7%"
  "f`c'8{`c2/t`c>#m`c&#f`c7#f`c+5x`c''r`c7(s`c:0p`c9=w`c))k`c7:j`c7.u`c.3z`c<*y`c$8z`c)x`c1:l`c0,``c&4d`c(0j`c'2v`c$0"
  "$g`c:v`c&-z`c&3b`c'0f`c)5z`c(>t`c54j`c&%r`c%7j`c&z`c$88i`c0'v`c&$v`c:/v`c$&=s`c%#x`c+``c$6p`c);r`c$.h`c%&l`c&/b`c%"
  "7d`c$4j`c,4b`c)5w`c*+z`c%$r`c$13e`c-``c$-l`c5+v`c25l`c$)x`c$#5i`c8l`c%+l`c(,z`c-9x`c(7q`c:;q`c(*v`c&)d`c$(j`c$2p`c"
  "/9d`c0b`c*+r`c/h`c.6x`c&&``c(x`c1x`c$6-q`c>1n`c26h`c&*t`c$*'m`c.>q`c$1p`c*)p`c(v`c)&``c%;r`c(%p`c%<l`c,4h`c*1h`c,:"
  "n`c$,)q`c$&&h`c$3'y`c06``c+p`c&0``c;v`c&2f`c;``c%#d`c&#z`c4:h`c$5,e`c-=j`c$)'d`c$4<m`c+/l`c->n`c87``c$&%u`c$&n`c'/"
  "v`c*0d`c9:z`c$35a`c$)t`c(/l`c),``c9n`c;t`c%8n`c'5j`c$)``c)*j`c)%t`c$h`c(:b`c&,``c$3'u`c4=n`c4-q`c6.b`c$9x`c.,x`c-;"
  "r`c&7h`c$0t`c$*=g`c'$l`c0&v`c'5a`c)b`c=l`c).o`c$.i`c40b`c$.2{`c$)*h`c$&>s`c&q`c+)v`c%7j`c3>r`c88e`c.0v`c'(g`c=0b`c"
  "'1u`c,'b`c+,g`c><c`c+;e`c%=h`g$6p`e,(x`g0/k`c87x`c%-h`c$3t`c%l`cn`c&``c6/n`c4-g`c$=v`e'&v`e&(p`g&/``c1b`i((h`cz`c&"
  "d`c%>d`c+-s`c&9z`c$5-y`c9j`c*h`c>d`c$z`c*v`c$1``c*n`c*``c$(t`c*l`c%/h`ct`c%6x`c2d`c%t`c*d`c%(n`c-n`c/n`c$*t`c&)l`c"
  ".r`c5x`c$1``c0n`c$*z`c%<b`c/j`cv`ca`cp`cl`cn`c&l`cb`c/t`c'r`c9v`c$/h`c$n`c'``c8v`c-n`c$)x`c-``c``c$)d`c&%j`c,p`c<z"
  "`c'``c$$h`c&v`c$8``c,h`c',z`c7h`c'h`c$+.w`c.*%j`c-0&g`g$(<w`c%,b`c(m`c$)w`c$'j`c'f`c:j`c&r`c$7f`c(c`c'x`c(f`c$4d`c"
  ")j`c-j`c$d`c6h`c1d`c%.``cn`c-h`c'x`c8j`c+l`c'{`c,p`c&g`c-l`c't`c$#p`c)h`c&x`c5p`c7l`c.r`ch`c'f`c%6r`c'r`c>z`c$$h`c"
  "$c`c)f`c5``c;``c'$v`c&2o`c+t`c+v`c:j`c-r`c&v`c3d`cd`c/f`c$f`c$v`c)d`cs`c$#h`c$)r`c6j`c0j`c3``c-z`c:p`c1f`c%'j`c.f`"
  "c%+t`c$'p`c'z`c$d`c8f`c'b`c&e`c&x`ce`c$e`c(l`c(v`c>h`c$/``c9l`c8b`c2v`c%4p`c*j`c+f`c,n`c%p`cx`c&l`c$:z`c%>``c,'/l`"
  "ck`c*2n`c.8*{`c%<z`c%j`c/-'p`c);n`c9(z`c.((c`c(j`'y&3-q&7he$vfwqtc`bc(7)xac`bc(7+quc`bc`hcb`cb`cb`cb`cb`cb`ed`cb`c"
  "b`cb`cb`ed`ed`cb`ed`cb`ed`cb`cb`cb`cb`c$mecglct`cr`):r(>&x$8s$zp`)>x*#n)+&rdd`$bt`,j-`*vbb`$-p$-b$-fb`$v&z'f+ddd{r"
  "nnfjn&t&pmd`sb`$f4j4r4fb`sd`z5`5f4hbb`%*v%*t%+b$5=z$5=z$5>hb`vb`sbv`bubbfabb`bab+#`+#l+#nbg`bl`%,*u%,*h%,+lcb`cnrc"
  "`bc`bc`bc`b)g)lycb`cbrcb`cabcb`);'q,$$q-:=uci`cr`c-'#b`c-&*o`c(p`cz`c(b`c+p`c%f`c(p`c$s`c5.m`c-;%``c-(,m`cn`c$d`c$"
  "j`c-'1b`c-:*q`c57l`c%t`c-'2x`c-'2c`cz`c$:{`c$;p`cr`c0/*p`c0/%{`c$``c6#w`c6'x`cv`c&d`cj`c6(g`c6.``cd`c$z`c$p`cv`cb`"
  "c$f`c&p`cp`cr`c$v`ct`cd`c``c``c-)0n`c,23g`c56w`c$n`c-*#x`c-)>{`cl`c$n`c-x`c*g`c$d`c%h`c'd`c)``c$x`c'v`c$d`c%j`c``c"
  "$n`c$h`cp`c$b`c;h`c6k`c6n`c1c`c%n`c%;y`c'1f`c7o`c%t`c$v`c,g`c.z`ca`c+v`c--%x`c-,<w`cj`c$b`c$l`cp`c'p`c--9d`c't`c--"
  "3{`c&j`cx`c(q`c-d`c:'o`c$``c:2d`c&x`c``c-.4h`c-.*u`c$n`c$b`cx`c-/#j`c-.>m`cn`c%'j`c%%i`c:<u`c;%f`c$``c(x`c&q`c-0/n"
  "`c-/>m`c-/>r`c-/;o`ce`c$f`c*f`cb`c;4i`c;6h`c&b`c$n`c&d`c;:i`c../b`c..-e`c;=p`cf`cf`c$l`c02+``c02'g`c-2+v`c``c,7/o`"
  "c98q`c``c<$i`c.9.n`c$%8x`c.>>k`cr`c<'o`c<*z`c&r`ct`c%l`c,t`c<5e`c%c`c<8t`c-35h`c-31q`c,f`ch`cd`cc`c&h`c$l`c%p`c{`c"
  "v`c&j`c$l`ch`c$x`cv`c't`c)``c%n`c+x`c-44l`c-45u`c'q`c*t`c$z`c)z`c-4:f`c-45u`c)q`c${`c>%m`c>3f`c$n`c%f`c%s`c>/u`c$#"
  "#f`c%b`c-61d`c-6(q`c6v`c/m`c$#(s`c$#-x`c$#/a`c%o`c19t`cf`c0>r`c*c`c4#r`c$.7g`c:#l`ch`cl`c'j`cu`c-76l`c.8/s`c$$(f`c"
  "+i`c1r`c&r`c-7,t`c-7,a`c*y`c4n`c$$6i`c$$9r`c)z`c(b`c0p`c-7.b`c-7*k`c$%2a`c$%7b`c-8.h`c-8*q`c$%6w`c$%9``c&f`c$z`cb`"
  "c-9*``c6*o`c62j`c-9'g`c-:+l`c-:#i`c$``c*g`c/n`c%x`c'b`c&w`c%x`c$b`cz`c-98f`c-9={`c4z`c'n`c$''e`c$'-x`cg`c-:$h`c-:2"
  "{`c=r`c-9>l`c&l`c-9;o`c+f`c$y`ce`c$'>u`c$(&d`c&r`ck`c&x`c,/'``c,.8c`c-:8``c-:1u`c-;-f`c-;#e`cz`c$z`c-</p`c-<,c`c$n"
  "`c-=$d`c2z`c-=#s`c$f`c$)1u`c$)3r`c$)2u`c``c$)>j`c$n`c$n`c$l`c'z`c$*$q`c$*+b`c->4x`c->2{`c->9p`c->5{`c,>4r`c,>)e`c."
  "$*n`c$r`c-``c/+>{`cx`c$*;h`c.$2j`ca`c%v`c$x`c.$3y`cb`c``c&b`c$*=y`c$+&p`c$+%q`c(t`c/.&j`c.%7m`c'l`c'p`c$+1i`c//*b`"
  "c.&-w`c.&6d`c&b`c.&5c`c)p`c$,$k`c$,*n`ct`cj`c.'=b`c8j`c``c.(+a`c$,'w`c/2&n`c.(.e`cf`c$,4w`c/23b`c.(*g`c$-#c`c$-$t`"
  "ci`c%b`c.*&h`c.);e`c$-&o`c$--t`c'f`c'v`c$-3a`c/53h`c%f`c/52w`c/5=h`c.*5u`c.*=``c.*;a`c*f`cv`c.+4n`c(f`c.+3e`c.+<t`"
  "c.+;o`c-'$b`c.24g`c$.7z`c(v`c$.9w`c$.>b`c<'q`c/):``c$``c$)$g`cr`c-&'u`cf`c+;t`c$8&a`c$/3l`ck`c$h`c$&+c`c$&,p`cd`ct"
  "`c%z`c.-<p`c.-<q`c'``c(``c(h`c,w`c.``c&``c+``c5o`c+n`cd`c$d`c.-<x`c9b`c-s`c/;*o`c$05d`cd`c%n`c.2%``c.1;k`c..;``c/<"
  "5u`ch`c/=#``c7r`c/=6y`c$1-r`cx`cv`cd`c'p`c%i`c,p`c&c`c-v`c(u`c'v`c$z`c$1<a`c$2&p`c%h`c$2&k`c$2-f`cf`c.14l`c.1,c`cn"
  "`c$21y`c$23z`c$>#m`c017v`c0d`c0&/o`cr`c$3+r`c(n`c.f`c1n`c.3&r`c.2<m`c$p`c)l`c)p`c.4$d`c%8:a`c+:#a`c$a`c&t`c+:0``c+"
  "9;s`c*d`c.7)l`c$z`c.6.m`c)r`c%h`c.6<n`c.6;u`c7j`c.j`cb`c)o`c>f`c%``c.8%b`c.7&i`c$83{`c$87d`c.7>l`c010u`c$9(n`c$,*m"
  "`c$,1j`c.92``c2f`c04'w`cp`c$92p`c.:;d`c05*k`c054l`c.;&a`c``c%d`c.;8n`c.;+g`c$97m`c$9<p`c,``c$z`c'h`c$:$s`c09(x`c.="
  "/k`c8p`c0n`c$;-e`c%f`c$;2p`c/#3n`c0<&g`c0<*f`c5z`c,j`c/#;k`c$<'i`c$<+v`cj`cn`ct`cn`c%r`c/%9b`";
// end generated

struct Mark {
  char32_t code_point, combining_class;
};
struct Run {
  char32_t end, combining_class;
};
struct Pair {
  char32_t first, second;  // second: 0 for a singleton
};
struct Tables {
  std::vector<Run> classes;
  std::unordered_map<char32_t, Pair> decompositions;
  std::unordered_map<uint64_t, char32_t> compositions;  // key: first << 32 | second
};

uint64_t pair_key(char32_t first, char32_t second) { return uint64_t{first} << 32 | second; }

uint32_t take_number(std::string_view& digits) {
  uint32_t value = 0;
  size_t at = 0;
  while (digits[at] < '`') value = value * 28 + static_cast<uint32_t>(digits[at++] - '#');
  value = value * 28 + static_cast<uint32_t>(digits[at] - '`');
  digits.remove_prefix(at + 1);
  return value;
}

// 0, -1, 1, -2, 2 … are stored as 0, 1, 2, 3, 4 …; char32_t wraps round.
char32_t take_change(std::string_view& digits) {
  const uint32_t folded = take_number(digits);
  return folded % 2 == 0 ? folded / 2 : ~(folded / 2);
}

Tables read_tables() {
  Tables tables;
  Run run{0, 0};
  for (std::string_view digits = class_runs; !digits.empty(); run.combining_class = take_number(digits)) {
    run.end += take_number(digits);
    tables.classes.push_back(run);
  }
  char32_t whole = 0;
  Pair parts{0, 0};
  for (std::string_view digits = mappings; !digits.empty();) {
    const uint32_t distance = take_number(digits);
    whole += distance / 2;
    parts.first += take_change(digits);
    parts.second += take_change(digits);
    tables.decompositions[whole] = parts;
    if (distance % 2 == 0) tables.compositions[pair_key(parts.first, parts.second)] = whole;
  }
  return tables;
}

const Tables& tables() {
  static const Tables read = read_tables();
  return read;
}

// Hangul syllables follow from arithmetic (Unicode 3.12): 19 leading, 21 vowel and 27 trailing jamo.
constexpr char32_t first_syllable = 0xAC00, first_leading = 0x1100, first_vowel = 0x1161, before_trailing = 0x11A7;

void append_decomposed(std::vector<Mark>& text, char32_t code_point) {
  if (const char32_t index = code_point - first_syllable; index < 19 * 21 * 28) {
    text.push_back({first_leading + index / (21 * 28), 0});
    text.push_back({first_vowel + index / 28 % 21, 0});
    if (index % 28 != 0) text.push_back({before_trailing + index % 28, 0});
    return;
  }
  if (const auto found = tables().decompositions.find(code_point); found != tables().decompositions.end()) {
    append_decomposed(text, found->second.first);
    if (found->second.second != 0) append_decomposed(text, found->second.second);
    return;
  }
  const auto& classes = tables().classes;
  const auto run = std::upper_bound(classes.begin(), classes.end(), code_point,
                                    [](char32_t value, const Run& other) { return value < other.end; });
  text.push_back({code_point, run == classes.end() ? 0 : run->combining_class});
}

// The composition of a pair, or 0.
char32_t compose(char32_t first, char32_t second) {
  const char32_t leading = first - first_leading, vowel = second - first_vowel;
  if (leading < 19 && vowel < 21) return first_syllable + (leading * 21 + vowel) * 28;
  const char32_t syllable = first - first_syllable, trailing = second - before_trailing;
  if (syllable < 19 * 21 * 28 && syllable % 28 == 0 && trailing > 0 && trailing < 28) return first + trailing;
  const auto found = tables().compositions.find(pair_key(first, second));
  return found == tables().compositions.end() ? 0 : found->second;
}

void sort_marks(std::vector<Mark>& text) {
  for (auto from = text.begin(); from != text.end();) {
    auto to = std::find_if(from, text.end(), [](const Mark& mark) { return mark.combining_class == 0; });
    std::stable_sort(from, to, [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    from = to == text.end() ? to : to + 1;
  }
}

// Each mark joins the last starter unless one of the same or a higher class, or another starter, stands between.
void compose_marks(std::vector<Mark>& text) {
  size_t kept = 0;
  size_t starter = text.size();  // none yet
  for (const Mark mark : text) {
    if (starter < kept) {
      const bool is_adjacent = starter + 1 == kept;
      const bool is_blocked = !is_adjacent && text[kept - 1].combining_class >= mark.combining_class;
      const char32_t composed = is_blocked ? 0 : compose(text[starter].code_point, mark.code_point);
      if (composed != 0) {
        text[starter].code_point = composed;
        continue;
      }
    }
    if (mark.combining_class == 0) starter = kept;
    text[kept++] = mark;
  }
  text.resize(kept);
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      put(0xE0 | code_point >> 12);
    } else {
      put(0xF0 | code_point >> 18);
      put(0x80 | (code_point >> 12 & 0x3F));
    }
    put(0x80 | (code_point >> 6 & 0x3F));
  }
  put(0x80 | (code_point & 0x3F));
}

}  // namespace

void check_normalizer(const Json& normalizer) {
  const Json* type = normalizer.find("type");
  if (type == nullptr || type->string != "NFC") throw EngineError("tokenizer.json: normalizer: this engine was built for NFC");
}

std::string normalize(std::string_view text) {
  std::vector<Mark> marks;
  for (size_t at = 0; at < text.size();) append_decomposed(marks, next_code_point(text, at));
  sort_marks(marks);
  compose_marks(marks);
  std::string normalized;
  for (const Mark& mark : marks) append_utf8(normalized, mark.code_point);
  return normalized;
}
