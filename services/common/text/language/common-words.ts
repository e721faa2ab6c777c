/**
 * The 3,000 commonest lower-case English words, commonest first. Counted for this project over encyclopaedic prose
 * (three parts) and fiction (one part); words that occur only capitalised are not in it, so a capitalised word of this
 * list at the start of a sentence is probably no name.
 */
const COMMON_WORDS = `
the of and in a to is was by as for on with that his from at it an he which are one first were all has or be but not
this its also who film had have their known him been two other her born into so most located more when after they
only there time up then over some album now th part you city such series three country out state about released like
no during would between than season well before me second made upon them years under name world through being became
song since band played team man directed year head where long these many based while later if last what ship old
will she sea same both area member written any largest population though television we down still former four can
until used very including number produced single water those called place held music people new published day life
along company family did countries high game won best may began own side named great said much north government do
off school de within again way each third several public south near early against town could served back show see
among men founded games end must round yet recorded title east century ever established even tornado church small
language here every major singer million episode story role west form km little football came starring record work
international group station character main five around law just central use often building never members studio book
census community large debut good half full originally region death times national line total almost co himself home
built following formed say your night include received air white land professional outbreak took district live short
found election owned states political set without rock how hand comedy seen popular official body history go actor
power our average lead son right various considered having away top play river far should current features drama
movie across started created days six southern another player highest original period once least business point
island war too director due because might free career officially party late films thought left writer take author
went board few wind system does eyes included become sold different airport currently novel producer stars common
wife however sometimes father come led soon radio native local crime house make given young final capital release
territory know low miles whole open education whose feet developed areas itself present event wrote appeared
children winter coach making summer works next art border general northern ice independent animated represented
politician re opened office playing administrative league non temperature order action includes died run eight
although production referred pop together thus degree per unincorporated whom saw towards hit crew guitar followed
entire parts level president length songwriter track operated village months version modern previously black women
list things artist performed aired club captain moved term something added elected especially lost science taken
composed roles video heavy killed signed coast always events hands word military less annual seasons worked eastern
songs snow living ll goals am certain leading usually daughter rather ten heard st seven further brother climate
serves age human throughout get approximately teams successful college trade dead books flows formerly historic
continued post stage true actress guitarist seat mid fourth plays case gold position others appearance face think
terms nine put tornadoes competition editor winning oil famous service magazine voice working hard better square
sports hold themselves candidate cities presidential mother going lower feature style addition close western
research running perhaps charge chart hours broadcast composer fictional hotel mi designated wide beginning above
rule follows below languages services support arm basketball makes real development religious students passed turn
tracks announced episodes fiction journal important light direct similar network heart dropped star give copies solo
stood special previous enough generally designed keep remained significant leader legal museum wild nearly religion
replaced scored starred separate leg changed portion aircraft executive format rd southwest lies chief behind
complete covers industry park players turned course reached matter host standing shows featured cast movement
occurred musician scheduled seems lived taking consists congregation cut thousand independence operates tournament
heads commonly particular majority union worldwide soul holding mate rights territories middle shot private outside
ground love self characters featuring northwest situated means help mass stand becoming respectively airline albums
cm premiered placed fire code recently result indeed mouth king example distance shall port metal regular northeast
range tributary inches nor goes rest person takes available founder project prior date engineering mountain fifth
related edition waters higher citizens franchise location publishing ski retired done alongside sister civil sport
room whether commercial county medal records snowfall ocean using market competed organization overall singles
southeast according cold joined model success brand site vast centre mean clock either comes find described beneath
ancient struck rural university deep effect numerous forms strong fellow contains passenger recent administration
center guest recording base gave completely starting lay got cannot figure subject weather broad change woman act
needed appearances bank i oldest remains division opening blood chess morning founding primarily status temperatures
battle appears earlier forward acquired musical primary province piece returned ran fast licensed opera performance
type height rail possible provided capacity writing instead era kilometres locations typically vocalist food brought
active study broken start class minutes serving directly twice month schools continent regions label prominent
traditional quarter reason child red violent twenty horror score succeeded road married control hosted institutions
limited lyrics nd notable vocals entered latter mostly decided kept jumping selling titles surface presented double
big view nature spring property coming mark sailor selected monster academic listed renamed screenplay meaning
closed except steel energy turning pilot goal program field greater individual birth simply species design awarded
racing pieces ago social match call finished consecutive demon longest plant sequel variety fact acting airports
award currency farm federal novels publication votes grand islands names weeks craft friend mild nation felt
collection colonies translated told scientific silver gone therefore largely artists associated lives rate
eventually intended seventh creation appointed metropolitan origin rivers citizenship congressional inspired monsoon
restaurant tour unit urban fall interest foreign historical introduced society credited distributed falls injury
painter populous unknown domestic ended romantic stories boy silent bass billion economic groups properties screen
today via earth lines additional covered lake churches steam giving adopted basis flights senior decades duo
elections focused municipality nominated winner leaving declared beer green already words parties policy try borders
mainly provides chance sound cover natural upper otherwise opposition police roughly settlement cook marks smaller
able youth stands acts operations door sat speak straight speaking warm bombs championship financial footballer
supporting units sign split mixed runs appear merged cases female soap purpose firm rare spent idea applied pre
fought shared subsequently campus establishment minor peer regional sixth says dog race return combined influence
occupied source train breed districts estimated lowest noted reign remain cultural euro locomotives programs tax
hour inside past jump join authorities colonial conducted managed required cause master regarded alone distinct
manner garden representing structure widely attempts extended permanent surrounding bordered cost critics metres
technology victory longer clear officer becomes force want flying issue earned hot compilation diocese mm nez sonata
thriller von vote follow friends dry gained grew boys plan mountains personal process professor scale store towns
break granted issues deadly box fell discovered forming subsequent read adapted belief degrees expanded front courts
hotels invasion win cross marked sought future turns centuries week account articles attention daily possibly
attended chain completed laws consisting route shares tip finally culture documentary nearby precipitation ranked
refers reform soundtrack winds arms foot block coffee size elements entry scene bronze constitution construction met
hat ve fully sent equal moving move attack increased producing weapons sides profit tropical van spread counties
multiple municipal reviewed quickly easy bear fair proper storm tower powers serve map rival standard younger
accepted alcohol champion comic economy facilities graduated headquartered minister movies outbreaks shek siblings
sitcom actually places shore fixed occasionally remaining really bodies lit operation specific passengers drop kind
constructed festival freedom leaders owners twelve divided nations die passage quality royal agencies losing
annually bomb charter citation colony criminal formally newspaper publisher section talk table connected houses
involved pass question flow arts forces husband levels peaked receives transferred alternative ap awards budget
buildings debt drummer folk literary nuclear protests rapper resulted rhythm waterfall raised opposite critical
rolling issued tells command entirely companies believe yards brothers claimed continental department expansion
older sovereign studied evening corner capture caused matters attempt shortly wing existence car contemporary empire
failed physical dedicated downtown online operating originated railway relations specifically ways content leave
lying revealed helped arrived frequently meeting money probably settled drawing activity kill rising numbers owner
presence considerable demo earliest hence activities atomic championships clarinet classified credits dominated
educational hockey initially instruments journalist landlocked media monthly multi nomination overseas parish
percentage pizza recognized southeastern observed begins flight news taught carried agent destroyed knee internal
refused rules secret stop electric growth hall information stores trading step clean brief entitled vice abandoned
affected highly management measured occur report tons voices somewhat achieved maritime beat passing charging
circuit contributed relatively responsible tall dam spirit greatest immediately key growing learned strike decision
extensive gardens notes religions beyond honor botanical centered defeated defense digital electoral global graduate
humid institution publications relationship remake reviews screenwriter sq systems everything bring buried kings
reach trees handled particularly receive produce charged continents designs poet problems provide yellow concluded
breaking hill space experience loss tied holds bit swimming wholly defined flowing inhabitants banner concept court
create indigenous jurisdiction medals occurs organizations parents progressive represents sex studies versions
wrestling youngest chains meet regularly broke direction employed believed newly alive forty getting thirty wooden
yes address formation lasted movements proposed recognition abuse affiliated airing assistant bridge complex defeat
edited eighth filmed initial installed laboratory participated physics plants politics portrayed premiere
representative residents restaurants sexual teacher training types attached grown leaves captured meant experienced
pick compared la aspects launched rooms bearing drawn horse authors computer contract ex marriage martial
mathematics supported filled headed ends precise rapidly motion weight latitude partly volume derived murder sheets
charts girl larger rain uses wings partially reported sets write escape midnight orders wall anti bachelor boundary
despite internationally literature organized planned plans provincial results soldier ultimately repeated shape
reaching driving health killing mile separated travel bands crisis distinctive performances positive refer writers
anniversary bishop build ceased changes courthouse detective disc distribution fans flute governments jumper
mainland maximum minimum policies ppen rainfall rated recordings reggae residential scorer secondary session sources
subsidiary titled universities videos floor officers forced heat thousands care deal faith prepared receiving
reference containing flat ordered storms surrounded continue erected exist parallel surrender value actions adult
agreed appearing architect banks formal functions gallantry income increase neighborhood peak promotion recurring
traffic drew fight globe bad commander crossing armed offered salt spoken touched handed stock joint obtained bay
principal veteran architecture briefly celebrated damage focus frequency hired influenced influential suffered voted
advance god terrible tree beach instance intense pay picture showed measure respect sense simple stone tried animal
calls grounds knowledge speed wine principle rises wanted covering learning longitude shown staff calendar deadliest
etc families foundation gallery interview measures selection agriculture association bombings broadcasts busiest
businessman chairman clarinets collections compete conditions controlled enforcement finishing governing
headquarters instrumental jazz magazines mayor millimetres minority northeastern notably peoples piano positions
promotions publishes ranking releasing republic restoration sequence stations studios township trains transmission
treaties waterfalls needs rise cool ha row ages blind mention need advanced fashion fate fifteen image job nights
street strongly authority couple girls popularly problem tender arrival contained continuous demand extent invited
maintain male painting theory adjacent consisted context destination dollar effects exchange incorporated lack
matches negative prison resulting student technical weekly eternal inch faces happened missing save points
remarkable discovery reading visit consequence expected herself ceremony comprising pressure starts attraction
behalf corruption creating drivers drums engine joins loosely mapped missed opposed parent provinces renewed reserve
tradition website flag mentioned ordinary vicinity carrying colour doing streets rapid wish recognised accident
allowed amount beside claim paper prime remembered returning valley agency allow cells democracy duties eleven
frequent grandfather instrument offers periods projects providing theme acclaimed adaptation administrator aviation
bassist broadcasting category centers channel clocks confirmed coup debuted ecclesiastical economics employees
encompasses existed facto finale frontman gmina humans incumbent locomotive membership mining nicknamed normally
platinum politically portrayal postseason potential producers resources retirement ruled scoring speakers superhero
tennis themes tourist transmitter turbines viewers vodka watershed widespread understand gradually objects prairie
temporary desert fields narrative slave aged approach article choice definition driver experiences governor limit
maintained prevent pronounced text unusually attacks chosen devoted doctrine images library summers thirteen worst
asked dropping fairly worth external extreme ghost stay kick letters removed scenes setting wave lands mechanical
sell literally neighboring purchased request successfully understanding campaign champions closing da elevation
eleventh ensure establishing experimental fantasy hits independently invaded joining leadership legislative offices
outlet predecessor span unique weak fill thereby calling draw interior keeping picked accounts backed imperial path
sole stopped affairs courses determined greatly inland semi tone violence actual averages breeds highway meetings
perform performing replacing stating sworn abbreviated access activist agreement amateur baseball bonus brands cars
citizen coastal comics council critic cuisine del der develop dual efforts engagement ft il illegal industrial
injuries judicial merger mounds ninth northwestern officials ownership plot preparatory psychology railroad reaction
reforms registered relocated routes rugby sales script seventeen southwestern standards suburb techniques tourism
townships translations visa winters za anywhere carved oceans opinion perceived bears elevated letter reasons summit
equally page plane stepped supply throne dance increasing net profile severe solely basic commissioned contest
departments explored ma personality poem pond scholar seats security shift wealth crossed slightly sounding whereas
cup nearest smallest wet exceed express figures heavily intelligence interesting necessary peace string widow
branded concert emerged paintings philosophy prize resistance stated ability administered aid cathedral claims
classic communities conflict connections conventional deaths depending destinations divisions draft geographical
giant identified limits partnership publicly reaches renowned rulers slogan software tasting territorial ties troops
belonged conscience gay milk narrow driven mystery serious temporarily adventure advice destruction reality subjects
twin universe comprises drought establish existing historian landscape males naval partner printed remainder
restored sharing tribute actors allows ans athletes attempted bases biography biplane campaigns certified coldest
collaboration colonialism commission composition conference consolidated contributions cooperation coordinates
currencies data dating declined defeating defines difficult directors disciplines educator electrical ethnic
exploration extends flavored generation grades grandson infrastructure ji journals kg longtime medical metro output
parliament performer performs poetry popularity populated products promote promoted protest quarterly releases
replacement reprised revolution revolutionary runner schedule secular separation sibling specialized spelled
sponsored spouse successor sung teaching terminal theater thunderstorms toward treaty twentieth venue venues wins
bar contact desired notice pair shipped worn chair desire dogs hundreds intensity learn material shaped assumed
atmosphere coins collected contain enemy identity modified phrase preserve shelf transition army beliefs bought
brilliant characteristic constitutional curves democratic device disobedience emperor impressive injured integral
interests junction lawyer likely peninsula protect rank referring represent resigned scholars sporting transfer
afternoon element escaped fleet hills humor pure retained vital commenced currents danger importance influences
ranging visited allies branches corrupt distinction drinking examples persons principles protection riding rifle
rounds significantly viewed accurate adolescence aimed amounts animation apply astronomical bordering challenge
classical clubs core doctor eminent ending enjoyed equipped facility farmers fatalities function fundamental homes
improve jury manufacturing ministry normal particles phase platform practice proclaimed rainy ranges ruling suburban
surpassed undergraduate underground easily gaining papers spend stayed abroad expand extending generations ideas
items margin opposing pen preceding resumed trip acted arrangement assigned background buy cargo castle childhood
conceived counterpart decline delivery details fort hip hop liberal mountainous resolution ridge signing soldiers
supplies tribes uncle activists adults aerial agricultural aka assets athlete banking believes biographical boxer
cinema competitive confluence connects conservative consultant contested creator cyclones dates decade defensive
dependent des drafted dynasty editions eldest ensemble entity filming finals grade gravel impact imperialism indie
integration intersection legislature manager mandate mini models nationally onto parliamentary percent planning
powered product professionally punk regime reporter representation resignation sections skiing soccer styles
subtropical target theoretical theories touring traded trillion upcoming www bill brown cap doors enter fluid lady
rich sunset traditions universal absence avoid boarding caps faced lifetime note possess profession situation
sufficient thirds zone agree artistic attendance bridges cabinet causing consequences continues cousin critically
decide developing documents essentially finish flower grandmother guide improvements investigation machines
manufactured medium ordained pioneer prices prominence response segment slaves spin swimmer threat trained wealthy
coasts condition cruise distinguished necessity ports retain safety search sheet suit technically tribe animals
announcement argued assist buttons concentrated converted nautical particle regarding sees sons statement succession
threatened views visual ad advent amongst arranged assistance autumn balance basin biggest cell charges concerns
conductor consent cultivated determine electricity engineer expert extension faction flowering freight gap
historians housed initiated introduction killer loan mission nephew occupies orchestra owns parks physicist price
princess select submitted theatre tourists translator accompanied confidence discover divine entering fed finest
links priest requires shop shores sized spending tomb united attacked branch card certainty cooking descent dominion
effort enabled exercise grant hee hosts lakes leads leisure marking method missionary portions purposes repeatedly
retiring speech staggered treat treats visitors acclaim acronym admission albeit alliance architectural associate
audio authored borough boroughs boundaries broadcaster cancelled cancer carrier cassette catering chi chronology
civilian civilians coalition cockpit com comedian committee competing competitions concerts congregations
constituency corporate coverage curriculum daytime dealing decisive defender deluxe denomination denominations
designer dialect distributes effectively eliminated elliptic entrepreneur environment failing fees formatted
freestyle geographic historically honorary hub inception incorporates inhabited inherited judiciary kuo legitimate
liberty mainstream markets meters miniseries mobile municipalities nationalism ng nickname nonviolent organised
participates playoffs playwright plus primetime productions proximity ratio referendum refineries relationships
requirements responsibility restrictions retail roads sanctioned satellite screened sector serial signature skating
songwriting sovereignty specialist stable sub sundial texts theatrical topped toured traders transitional transport
tributaries typical unified unreleased values variation veterans violin web westernmost wider wolf arrive
associations chip choose column constant equatorial forests helping judge observation peaceful phenomenon resembling
risk rounded studying vertical accurately allowing bars behavior brewed changing combat connection density departure
depression engines
`;

/** Rank of a common word, from 1. */
export const COMMON_WORD_RANK: ReadonlyMap<string, number> = new Map(
  COMMON_WORDS.trim()
    .split(/\s+/u)
    .map((word, index) => [word, index + 1]),
);

export function isCommonWord(word: string): boolean {
  return COMMON_WORD_RANK.has(word);
}

/**
 * Self-information of a word in running English, in nats over that of the commonest: `ln` of its rank by Zipf's law
 * (frequency ≈ 1 / (rank + 2.7)). Words outside the table count as rank 20,000.
 */
export function wordInformation(word: string): number {
  return Math.log(((COMMON_WORD_RANK.get(word) ?? 20_000) + 2.7) / 3.7);
}
