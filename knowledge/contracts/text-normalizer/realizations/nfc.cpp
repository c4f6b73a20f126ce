// SPDX-License-Identifier: MIT
// text.normalizer: canonical composition (NFC); any CPU; exact for the Unicode version named below.
// applies: tokenizer.normalizer=nfc
// requires: text.unicode, text.utf8
#include "text_normalizer.h"
#include <map>
#include <unordered_map>
#include "text_unicode.h"
#include "text_utf8.h"

namespace {
// Packed numbers written by text-unicode/generate-tables.ts. class_runs: length of a run, then the combining class
// behind it. mappings: see contract.md.
// begin generated
// Unicode 17.0
constexpr std::string_view class_runs =
    ">l+fu+ha*xd+ha*ta*xe*fb*xd*fb*xkae*xd+fc`b+fa`b+pa+fa*xc+fc*xb`a+fc*xd+fa+ha*xb+fa+ia+jb+ia+jb+ia+fm`,w+fe`,m*xa+fd*xa+fc*za*xa+ff*xf+fb*xa+fb*za+da+fajakalamanaoapaqarasbtauava`awa`axaya`a+fa*xa`ara`%p+fh$ba$ca$da`$t{a$`a$aa$ba$ca$da$ea$fa+fb*xb+fe*xa+fb*xa`p$ga`&q+fg`b+fd*xa+fa`b+fb`a*xa+fb*xa`$g$ha`$b+fa*xa+fb*xa+fb*xc+fa*xb+fa*xa+fc*xa+fa*xa+fa*xa+fa*xa+fb`(t+fg*xa+fa`i*xa`x+fd`a+fi`a+fc`a+fe`$o*xc`%c+fb*xc+fd`$n+fe*xe+fn`a*xa+fb*xa+fb*xa+fc*xc{a$`a$aa+fc*xa+fb*xb+fe`%dga`pia`c+fa*xa+fb`&sga`pia`$t+fa`%ega`pia`&zga`pia`&zga`pia`'oia`&zga`pia`g&`a&ga`&qga`pia`&yib`pia`'lia`&y&sbia`m&wd`&x'fbia`m'jd`%t*xb`{*xa`a*xa`a*ta`${'qa'ra`a'ta`e'rd`b'ra`a+fbia`a+fb`%f*xa`'`ga`aib`%z*xa`<s+fc`$(xib`$bia`(qia`j+fa`*g+da`(c*za+fa*xa`*w+fa*xa`%oia`t+fh`b*xa`$t+fe*xf+fb*xa`a*xb+fb*xb+fe*xa+fr*xa`b+ff*xa+fd+ja`%pga`oia`$j+fa*xa+fg`$zib`%bga`kib`%kga`(l+fc`aaa*xe+fb*xd+fa`aag`d*xa`f+fa`c+fb`*b+fb*xa+fg*xa+fb+ja*ra*xa*fa+f$i+ha+db*xa*va+fa+ia*xa+fa*xa`<t+fbab+fdac+fb`d+fa`cab+fa*xa+faab*xd+fa`&<r+fc`(aia`&l+f$d`6v*va+da+ha*za+`b`&uhb`$-0h+fa`d+fj`$d+fb`%x+fb`,xia`$iia`(kia`{+fr`%a*xc`$iia`&kga`lia`+o+fa`a+fb*xa`b+fb`e+fb`a+fa`$xia`+via`<;`za`>m+fg*xg+fb`$)u*xa`+b*xa`(i+fe`%'b*xa`a+fa`$l+faaa*xa`dia`(y+fa*xa`7m+fd`%i+fe`.i+fb`%u*xb`a*xc`%n*xb+fc*xa+fa*xd`$u+fa*xa+fa*xa`)xia`$mia`nia`%aiaga`%m+fc`$tib`%fga`%tia`iga`&viaga`)jgaia`%xgb`pia`x+fg`c+fe`&eic`'aia`cga`w+fa`&oiaga`+{iaga`'nia`'fiaga`'cia`,qiaga`,fib`dga`(pia`%{ia`ria`%yia`2aia`,fga`aib`%yia`2eib`81tia`&(dae`%c+fg`$2efb`<$`aa`)8z*tbac`c+ba*te`h*xh`b+fe*xb`$b+fd`(h+fc`'0o+fg`a+fq`b+fg`a+fb`a+fe`&p+fa`(t+fg`0k+fa`%e+fd`5d+hb*xa+fa`,b+fa*xa`+s+fa`b+fa`g+fb`e+fa`3z*xg`&y+ffga`";
constexpr std::string_view mappings =
    "7p'r$=x``b``b``b``j``dcd%b`d%u``b``b``l`ho``b``b``lcji`be``b``b``b``jflo``b``b``l`hmfpa``b``b``b``j``dcd%b`d%u``b``b``l`ho``b``b``lcji`be``b``b``b``jflo``b``b``l`hmc`n`&{g`%h``%gd`%h``%g%l`%h``%c%u`%h``%gb`%h``%gj`%h``%gj`%h``%e``%h`f%eo`%h``%gd`%h``%gb`%h``%g%j`%h``%g${`%h``%cs`%h``%gh`%h``%gb`%h``%g%h`%h``%e%q`%h`f%eb`%h``%gb`%h``%gd`%h``%g%l`%h``%g%iibi`%h``%e%r`%h`c%e%s`%h``%g%t`%h``%g$y`%h`l%cu`%h``%g%t`%h``%g$y`%h`i%eo`%h``%gd`%h``%gj`%h`f%as`%h``%g%t`%h``%g$y`%h``%eu`%h``%gb`%h``%g%r`%h``%g$y`%h``%e$z`%h``%g$y`%h`f%eq`%h``%gb`%h``%gd`%h``%gh`%h``%gb`%h``%g%b`%h``%c%s`%h``%c``%h``%gl`bm`%h``%gl`%h``%gj`%h`&o&a$b`%h`$k$w``%h`&`&s$a`%h``$s``%h``$w``%h``$w``%h``*jo`%h``%ge`%h``%gv`%h``%gw`%h`c&{h`%h``:```b``<e``%h`f.ip`%h``${``%h``${%``%h``>b%o`b``&sp`2r``$.k`i%mu`%h`f$ua`%h``)fb`%h``%e``%h``{``%h``0a$``%h``%gd`%h``${c`%h``%gd`%h``${c`%h``%gd`%h``$wc`%h``%gd`%h``%ac`%h``%gd`%h``%ac`%h``%gd`%h``%k$n`%h``%e``%h`f&c$w`%h`r%ui`%h``${%h`%h``+b%m`%h``%i``%h``.wf`%h``$&ze`b``$(o``%h`$#v$=xbbe$ha$5ve(c)k$a$4or$2k``$<f`b+x`h``d``d`cl`cl``h``%j`%s&mn`x``xm`h``d``d``$h`%s$gn`x``km`l``h`lr```n'q'vo``pccmiynl$lm`ca`vl$bu`&i%h`%jek``pccmi%nnl${m`ca`vl%m&nr`b`*w)uq`%h`$k%s``%h``%gd`%h`f$yc`%h`f.rd`b``0y``%h``%e``%h`f%eg`%h``%gh`%h``$w``%h`f/d``b``0k``%h``%{g`%h``%gh`%h``%gf`%h``${e`%h`f${``%h`$&t$)`%'f``b`%j``%ib`%na3k,z`c$k`$t$f`%*{$1t$<dup`ff`&v%c`ab`ab`aj`aj`ab`ar`ah`.m-x,h``$v$r%s$yab`dz`+z,j,dgl`&s%k`ab`aj`g$b`;{7h7df`$s``$v$r%s$yab`(v+`.b(s&t$u`b``a$v0e,d,b/u+r,brn```bc`$k`h$j0n+x*n`b``a$v2c-n+fc`j`fi`e$n$-e<v$(t$`t`mj`mj`mj`$i$yc$`&n'ud`da'rxdb`y's`$x%j&z$`t`mj`mj`mj`$i$yc.p-r+r-5e*%x*(rcd`cd`cd`cd`ih`'h%z`cd`fd``b`cf`%6`44u26{`%h``%e%c`%h``%g%``%h``%g$``%h``*f&k`%h``.ql`%h``%g%``%h``%g$``%h``%gs`%h``%gl`%h``/l&e`b``ab`b``1s&d`%h``%gf`%h``$'f%{`b``$)mb`%h``%ee`%h``%ef`%h``%g%``%h``%g$y`%h``%g%f`%h``%gn`%h``%ed`%h``*h&i`%h``.s``%h``%g%l`%h``%g$``%h``%e{`%h``6/t%e`b``62a&f`%h``%gg`%h``%e&c`%h``%gl`%h``%g%``%h``%e${`%h``%g%``%h``%g$``%h``%gg`%h``*j&c`%h``%gn`%h``)fo`b``ab`b``5a``%h``%gl`%h``%c``%h``%g%``%h``61x%e`b``64e&f`%h``%e%{`%h``%g%``%h``3n${`b``j``b``5=j``b``64q``%h``%g%``%h``%g$``%h``%gg`%h``%eq`%h``%gx`%h``%ge`%h``4j&c`b``bn`b``6ui`%h``%g%h`%h``%e%m`%h``%gb`%h``%gn`%h``%ga`%h``%g%``%h``%e${`%h``%gb`%h``%ea`%h``%ei`%h``%g%j`%h``%g$``%h``$g``x%y`fd`d`c5tel9s%``%h``%g$w`%h``)zo`%h``%ga`%h``%gr`%h``%gk`%h``6.xa`b``6,qa`b``aa`b``ar`b``ak`b``6,nf`b``6:c%b`%h``%g$w`%h``%gk`%h``*fc`%h``%ga`%h``%gr`%h``%gk`%h``60`a`b``6;on`%h``%g$x`%h``$w``%h``%g$w`%h``*fo`%h``%ga`%h``%gr`%h``%gk`%h``60ta`b``6$ma`b``aa`b``ar`b``ak`b``a%h`b``:s``%h``%g$w`%h``9lo`b``aa`b``ar`b``ak`b``a%h`b``;m%m`%h``%g%n`%h``%g$w`%h``%gk`%h`r%%x$d``b`4:j$k`b``ab`b``a'r`b``4<s&i``b`4=f$k`b``ab`b``a'r`b``4:s&i``b`4;f$k`b``ab`b`f4=o$h``b`4>b$k`b``ab`b`f4;s$h``b`4<f$k`b``ab`b``a'r`b``4>o&i``b`5#b$k`b``ab`b``a'r`b``4<s&i``b`4=f$k`b``ab`b``a'r`b``5#o&i``b`5$b$k`b``ab`b``a'r`b``4=k&i``b`4=z$k`b``ab`b`f5$g$h``b`5$v$k`b``ab`b`f4>c$h``b`4>r$k`b``ab`b``a'r`b`c5${&gc5%p$kc`bc`'r`4>{&i``b`5#n$k`b``ab`b``a'r`b``5%w&i``b`5&j$k`b``ab`b``a'r`b``5%w'sa`b`haa`b`daa`b`daa`b`laa`b`laa`b`haa`bf48r'x`b``b``b``b``b``b``b``b``b``b``b``b``b``b``b``$f``b``b``b``b``b``b``b``b``b``b``b``b``b``b``b``&n``b``b``b``b``b``b``b``b``b``b``b``b``b``b``b``5&g'm``c`5&j'r`5&i``i`cje`5+jf`5-q'm``c``ga`b``'xe$>`f$<ee`7&df`5&e``q`cre`5,bf`5.m'ya`b`daa`b``'x`5-x'y``b``'r`5+k'g``c`$fga`bf$e'r`$f``&m'g``c``ga`bc52fa``b``'r`5/a'g``c`lga`b`s$h``b`h&h`l``%s'g``c``ga`b`g$j`$=i$ka`bb%(ef7&t'x`5%m``j`cie`5.ff`51e'ya`b`taa`b``'xb)`h7/lbb$&j51kk%(oa%)g'e.v88b&h`d`$zd`&f'h``h``c`(p&n`lj`ff`%m$t`cd`%v$r`fn`fd`cf`%j9)m`c9+h`$b$k``9)y``d``9+l``b`fz``b`ff``b`rf``b`fn``b`ff``b`&r$z``l``b``d`(d&i``b``$l``b`r%h``b``b``b`)k$&'zbb*2`(,d`(,a&2h$$4vcd`cd`cd`cd`cd`cd`cd`cd`cd`cd`cd`ff`cd`cd`rn```bcfa``bcfa``bcfa``bcfa``b%j&ua{)f`$k$``cd`cd`cd`cd`cd`cd`cd`cd`cd`cd`cd`ff`cd`cd`rn```bcfa``bcfa``bcfa``bcfa``b%j&uaf(f``b``b``b`iv`)><y%')vb;-ob=#lb$+sb62yb8+mb&7fb$8/nb`b$4<ib$+<db$.-kb%/rb(5tb0,zb(=pb'.`b>bb9tb'=vb<'yb%#r"
    "b%/lb$>fb-6jb+3zb(2zb$8*ib&)nb2-vb'4rb0&`b24vb$1+{b/'fb1+db%,rb<(yb7*zb'%vb=>ub(.vb'&rb&4xb60hb$14sb$/bb8bb.6hb&=vb'7jb&'nb(=lb&=bb)db'=nb)$jb%8nb$5nb;/kb4jb%6nb'#rb,=nb*0zb/:mb$'4qb'#jb6'xb%6hb,({b'(db0$db)5rb$/2yb%+tb+=jb%0bb9bb,)hb5xb27hb$3$ub$$;bb$%0qb$cb=,db%-lb'$jb/%pb*'ib=3ab'6rb82db$.6eb+=db%7fb/6vb$)zb9/ab;7xb=<{b-.`b.0{b7%fb'8{b2/tb>#mb&#fb7#fb+5xb''rb7(sb:0pb9=wb))kb7:jb7.ub.3zb<*yb$8zb)xb1:lb0,`b&4db(0jb'2vb$0$gb:vb&-zb&3bb'0fb)5zb(>tb54jb&%rb%7jb&zb$88ib0'vb&$vb:/vb$&=sb%#xb+`b$6pb);rb$.hb%&lb&/bb%7db$4jb,4bb)5wb*+zb%$rb$13eb-`b$-lb5+vb25lb$)xb$#5ib8lb%+lb(,zb-9xb(7qb:;qb(*vb&)db$(jb$2pb/9db0bb*+rb/hb.6xb&&`b(xb1xb$6-qb>1nb26hb&*tb$*'mb.>qb$1pb*)pb(vb)&`b%;rb(%pb%<lb,4hb*1hb,:nb$,)qb$&&hb$3'yb06`b+pb&0`b;vb&2fb;`b%#db&#zb4:hb$5,eb-=jb$)'db$4<mb+/lb->nb87`b$&%ub$&nb'/vb*0db9:zb$35ab$)tb(/lb),`b9nb;tb%8nb'5jb$)`b)*jb)%tb$hb(:bb&,`b$3'ub4=nb4-qb6.bb$9xb.,xb-;rb&7hb$0tb$*=gb'$lb0&vb'5ab)bb=lb).ob$.ib40bb$.2{b$)*hb$&>sb&qb+)vb%7jb3>rb88eb.0vb'(gb=0bb'1ub,'bb+,gb><cb+;eb%=hh$6pe,(xh0/kb87xb%-hb$3tb%lbnb&`b6/nb4-gb$=ve'&ve&(ph&/`b1bk((hbzb&db%>db+-sb&9zb$5-yb9jb*hb>db$zb*vb$1`b*nb*`b$(tb*lb%/hbtb%6xb2db%tb*db%(nb-nb/nb$*tb&)lb.rb5xb$1`b0nb$*zb%<bb/jbvbabpblbnb&lbbb/tb'rb9vb$/hb$nb'`b8vb-nb$)xb-`b`b$)db&%jb,pb<zb'`b$$hb&vb$8`b,hb',zb7hb'hb$+.wb.*%jb-0&gh$(<wb%,bb(mb$)wb$'jb'fb:jb&rb$7fb(cb'xb(fb$4db)jb-jb$db6hb1db%.`bnb-hb'xb8jb+lb'{b,pb&gb-lb'tb$#pb)hb&xb5pb7lb.rbhb'fb%6rb'rb>zb$$hb$cb)fb5`b;`b'$vb&2ob+tb+vb:jb-rb&vb3dbdb/fb$fb$vb)dbsb$#hb$)rb6jb0jb3`b-zb:pb1fb%'jb.fb%+tb$'pb'zb$db8fb'bb&eb&xbeb$eb(lb(vb>hb$/`b9lb8bb2vb%4pb*jb+fb,nb%pbxb&lb$:zb%>`b,'/lbkb*2nb.8*{b%<zb%jb/-'pb);nb9(zb.((cb(j*f$#'w$##id$vf$cqta`ba(7)xaa`ba(7+qua`ba`hab`ab`ab`ab`ab`ab`dd`ab`ab`ab`ab`dd`dd`ab`dd`ab`dd`ab`ab`ab`ab`a$meaglat`ar`-*j(>&x$8s%vp`-0s*#n)+&rcd`$nt`0z-`*v`b`%$u$-b$-f``$v(v'f+dcd{xnnfjn(m&pmc`s``$f<z4r4f``sc`z=y5f4h`b`&.p%*t%+b%1/h$5=z$5>h``v``s`v``ub`fa`b``ab.>y+#l+#n`g``l`&0<n%,*h%,+lab`anra`ba`ba`ba`b,g)lyab`abrab`aabab`-+)w$<%ybibrb-'#bb-&*ob(pbzb(bb+pb%fb(pb$sb5.mb-;%`b-(,mbnb$db$jb-'1bb-:*qb57lb%tb-'2xb-'2cbzb$:{b$;pbrb0/*pb0/%{b$`b6#wb6'xbvb&dbjb6(gb6.`bdb$zb$pbvbbb$fb&pbpbrb$vbtbdb`b`b-)0nb,23gb56wb$nb-*#xb-)>{blb$nb-xb*gb$db%hb'db)`b$xb'vb$db%jb`b$nb$hbpb$bb;hb6kb6nb1cb%nb%;yb'1fb7ob%tb$vb,gb.zbab+vb--%xb-,<wbjb$bb$lbpb'pb--9db'tb--3{b&jbxb(qb-db:'ob$`b:2db&xb`b-.4hb-.*ub$nb$bbxb-/#jb-.>mbnb%'jb%%ib:<ub;%fb$`b(xb&qb-0/nb-/>mb-/>rb-/;obeb$fb*fbbb;4ib;6hb&bb$nb&db;:ib../bb..-eb;=pbfbfb$lb02+`b02'gb-2+vb`b,7/ob98qb`b<$ib.9.nb$%8xb.>>kbrb<'ob<*zb&rbtb%lb,tb<5eb%cb<8tb-35hb-31qb,fbhbdbcb&hb$lb%pb{bvb&jb$lbhb$xbvb'tb)`b%nb+xb-44lb-45ub'qb*tb$zb)zb-4:fb-45ub)qb${b>%mb>3fb$nb%fb%sb>/ub$##fb%bb-61db-6(qb6vb/mb$#(sb$#-xb$#/ab%ob19tbfb0>rb*cb4#rb$.7gb:#lbhblb'jbub-76lb.8/sb$$(fb+ib1rb&rb-7,tb-7,ab*yb4nb$$6ib$$9rb)zb(bb0pb-7.bb-7*kb$%2ab$%7bb-8.hb-8*qb$%6wb$%9`b&fb$zbbb-9*`b6*ob62jb-9'gb-:+lb-:#ib$`b*gb/nb%xb'bb&wb%xb$bbzb-98fb-9={b4zb'nb$''eb$'-xbgb-:$hb-:2{b=rb-9>lb&lb-9;ob+fb$ybeb$'>ub$(&db&rbkb&xb,/'`b,.8cb-:8`b-:1ub-;-fb-;#ebzb$zb-</pb-<,cb$nb-=$db2zb-=#sb$fb$)1ub$)3rb$)2ub`b$)>jb$nb$nb$lb'zb$*$qb$*+bb->4xb->2{b->9pb->5{b,>4rb,>)eb.$*nb$rb-`b/+>{bxb$*;hb.$2jbab%vb$xb.$3ybbb`b&bb$*=yb$+&pb$+%qb(tb/.&jb.%7mb'lb'pb$+1ib//*bb.&-wb.&6db&bb.&5cb)pb$,$kb$,*nbtbjb.'=bb8jb`b.(+ab$,'wb/2&nb.(.ebfb$,4wb/23bb.(*gb$-#cb$-$tbib%bb.*&hb.);eb$-&ob$--tb'fb'vb$-3ab/53hb%fb/52wb/5=hb.*5ub.*=`b.*;ab*fbvb.+4nb(fb.+3eb.+<tb.+;ob-'$bb.24gb$.7zb(vb$.9wb$.>bb<'qb/):`b$`b$)$gbrb-&'ubfb+;tb$8&ab$/3lbkb$hb$&+cb$&,pbdbtb%zb.-<pb.-<qb'`b(`b(hb,wb.`b&`b+`b5ob+nbdb$db.-<xb9bb-sb/;*ob$05dbdb%nb.2%`b.1;kb..;`b/<5ubhb/=#`b7rb/=6yb$1-rbxbvbdb'pb%ib,pb&cb-vb(ub'vb$zb$1<ab$2&pb%hb$2&kb$2-fbfb.14lb.1,cbnb$21yb$23zb$>#mb017vb0db0&/obrb$3+rb(nb.fb1nb.3&rb.2<mb$pb)lb)pb.4$db%8:ab+:#ab$ab&tb+:0`b+9;sb*db.7)lb$zb.6.mb)rb%hb.6<nb.6;ub7jb.jbbb)ob>fb%`b.8%bb.7&ib$83{b$87db.7>lb010ub$9(nb$,*mb$,1jb.92`b2fb04'wbpb$92pb.:;db05*kb054lb.;&ab`b%db.;8nb.;+gb$97mb$9<pb,`b$zb'hb$:$sb09(xb.=/kb8pb0nb$;-eb%fb$;2pb/#3nb0<&gb0<*fb5zb,jb/#;kb$<'ib$<+vbjbnbtbnb%rb/%9b";
// end generated

struct Mark { char32_t code_point, combining_class; };
using Pair = std::pair<char32_t, char32_t>;  // second: 0 for a singleton

// 0, -1, 1, -2, 2 ... are stored as 0, 1, 2, 3, 4 ...
void take_change(std::string_view& digits, char32_t& value) {
  const uint32_t folded = take_number(digits);
  value += folded % 2 == 0 ? folded / 2 : ~(folded / 2);
}

struct Tables {
  std::map<char32_t, char32_t> classes;  // by the end of the run
  std::unordered_map<char32_t, Pair> decompositions;
  std::map<Pair, char32_t> compositions;

  Tables() {
    char32_t end = 0, combining_class = 0, whole = 0;
    for (std::string_view digits = class_runs; !digits.empty(); combining_class = take_number(digits)) {
      end += take_number(digits);
      classes[end] = combining_class;
    }
    Pair single{0, 0}, pair{0, 0};
    for (std::string_view digits = mappings; !digits.empty(); ++whole) {
      const uint32_t head = take_number(digits);
      whole += head / 3;
      take_change(digits, head % 3 == 2 ? single.first : pair.first);
      if (head % 3 != 2) take_change(digits, pair.second);
      decompositions[whole] = head % 3 == 2 ? single : pair;
      if (head % 3 == 0) compositions[pair] = whole;
    }
  }
};
const Tables tables;

// Hangul syllables follow from arithmetic (Unicode 3.12): 19 leading, 21 vowel and 27 trailing jamo.
constexpr char32_t first_syllable = 0xAC00, first_leading = 0x1100, first_vowel = 0x1161, before_trailing = 0x11A7;

void append_decomposed(std::vector<Mark>& text, char32_t code_point) {
  if (const char32_t index = code_point - first_syllable; index < 19 * 21 * 28) {
    text.push_back({first_leading + index / (21 * 28), 0});
    text.push_back({first_vowel + index / 28 % 21, 0});
    if (index % 28 != 0) text.push_back({before_trailing + index % 28, 0});
  } else if (const auto found = tables.decompositions.find(code_point); found != tables.decompositions.end()) {
    append_decomposed(text, found->second.first);
    if (found->second.second != 0) append_decomposed(text, found->second.second);
  } else {
    const auto run = tables.classes.upper_bound(code_point);
    text.push_back({code_point, run == tables.classes.end() ? 0 : run->second});
  }
}

// The composition of a pair, or 0.
char32_t compose(char32_t first, char32_t second) {
  const char32_t leading = first - first_leading, vowel = second - first_vowel;
  if (leading < 19 && vowel < 21) return first_syllable + (leading * 21 + vowel) * 28;
  const char32_t syllable = first - first_syllable, trailing = second - before_trailing;
  if (syllable < 19 * 21 * 28 && syllable % 28 == 0 && trailing > 0 && trailing < 28) return first + trailing;
  const auto found = tables.compositions.find({first, second});
  return found == tables.compositions.end() ? 0 : found->second;
}

// Canonical order: each run of marks by class, equal ones as they came.
void sort_marks(std::vector<Mark>& text) {
  for (auto from = text.begin(); from != text.end(); from += from != text.end()) {
    const auto to = std::ranges::find(from, text.end(), 0u, &Mark::combining_class);
    std::ranges::stable_sort(from, to, {}, &Mark::combining_class);
    from = to;
  }
}

// Each code point joins the last starter unless a mark of the same or a higher class, or a starter, stands between.
void compose_marks(std::vector<Mark>& text) {
  size_t kept = 0, starter = text.size();
  for (const Mark mark : text) {
    const bool is_blocked = starter + 1 < kept && text[kept - 1].combining_class >= mark.combining_class;
    const bool may_join = starter < kept && !is_blocked;
    if (const char32_t composed = may_join ? compose(text[starter].code_point, mark.code_point) : 0; composed != 0) {
      text[starter].code_point = composed;
      continue;
    }
    if (mark.combining_class == 0) starter = kept;
    text[kept++] = mark;
  }
  text.resize(kept);
}
}  // namespace

void check_normalizer(const Json& normalizer) {
  const Json* type = normalizer.find("type");
  if (type == nullptr || type->string != "NFC") throw EngineError("tokenizer.json: normalizer: expected NFC");
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
