const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));
const lines = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s*[,\n]\s*/u));

/** Given names, lower case: frequent ones of English and of the larger languages in Latin script. */
export const GIVEN_NAMES = {
  female: set(`
    aaliyah abigail ada adele adriana agata agnes agnieszka aileen aino aisha aleksandra alessia alexandra alice alicia alina
    alison alma amal amanda amelia amina amy ana anastasia andrea aneta angela anita anja anjali anke anna anne anneke annie
    annika anouk antje antonia anya aoife ariana arianna astri astrid audrey aurelie aurora ava aya ayesha aylin barbara beata
    beatrice belinda beth bettina betty bianca birgit brenda brigitte britta bronwyn camila camille carina carla carmen carol
    carolina caroline catherine cecile cecilia celine charlotte chiara chidinma chloe christina christine ciara cindy claire
    clara claudia clementine constance cynthia dagmar daisy daniela danuta daphne deborah deepa denise despina diana diane divya
    dolores dominika donna dora doris dorothea dorothy ebba edith edyta eileen eilidh ekaterina elaine eleanor elena eleni elif
    elin elina elisabeth elise elizabeth ella ellen eloise elsa elzbieta emilia emilie emily emine emma erica erika esther
    eszter eugenia eva evelyn ewa fabienne fanny farah fatima fatma federica fiona fiorella florence franca frances frida frieda
    friederike gabriela gabriele gail gemma genevieve georgia gerda giada gina giorgia gisela gitte giulia gloria grace greta
    gudrun gwen hana hanna hannah hannele harriet hazel heather hedvig heidi heike helen helena helga heli henrietta hilary
    hilde hildegard ida imke imogen ines inga ingeborg inger ingrid ioana irena irene irina iris isabel isabella isabelle isolde
    ivana ivy iwona izabela jacqueline jadwiga jana jane janet janice janine jasmin jasmine jean jelena jenna jennifer jenny
    jessica jette jill joan joana joanna jodie johanna jolanta josefine josephine joyce juanita judith judy julia julie juliet
    justyna kaja kamila karen karin karina karolina kasia katarina katarzyna kate katerina katherine kathleen kathrin kathy
    katie katja katrina katya kerstin khadija kim kimberly kinga kirsi kirsten klara kristen kristin kristina lara larissa laura
    lauren lavinia layla leah leena leila lena leonie leslie leticia letizia lidia liesbeth lieselotte lilian liliana lily linda
    linnea lisa liv liza ljubica lois lorraine lotte louisa louise lucia lucie lucija lucy ludmila luisa lydia lynn
    madeleine magda magdalena maggie maja malgorzata malin mandy manon maren margaret margarete margit margot maria mariam
    marian mariana marianne marie marieke marija marika marilyn marina marion marisol marjorie marlene marta martha martina
    martine mary mathilde matilda maud maureen maxine maya meera megan mei melanie melissa mercedes merete mette mia michaela
    michelle mildred milena milica mina mira miranda mirela miriam mirjam molly mona monica monika monique morgane nadia nadine
    nadja nalini nancy naomi natalia natalie natasa natasha neha nele nicole nicoletta nidhi nikolina nina noemi noor nora norma
    nuria odette oksana olena olga olivia ottilie pamela paola patricia paula paulina pauline penelope perpetua petra philippa
    phyllis pia pilar pooja preeti priya rachel radka rania raquel rasa rebecca regina renata renate rhiannon ricarda rita
    roberta rocio roisin romy rosa rosalie rosalind rosaria rose rosemary rosie roxana roxanne ruth sabina sabine sabrina sakura
    sally salma samantha sandra sanja sanna saoirse sara sarah sasha saskia selin selma shanti sharon sheila shirley shreya
    sigrid silja silke silvana silvia simone sinead siobhan siri snezana sofia solveig sonia sophia sophie soraya stefania
    stella stephanie stine sue sunita susan susana susanna susanne suzanne svenja svetlana sylvia tamar tamara tanja tanya tara
    tatiana tatyana teodora teresa teresita thea thora tiina tilda tina tonya tove tracy trine trudy ulla ulrike uma ursula
    valerie vanessa vasilisa vera verena veronica vesna vibeke victoria viola virginia vivian vivien vivienne wanda wendy wiebke
    wilhelmina xenia yara yasmin ylva yoko yolanda yuki yulia yvette yvonne zainab zara zdenka zeynep zoe zofia zoya zsofia
    zuzana`),
  male: set(`
    aarav aaron abdul abdullah abraham achim adam adil adrian agustin ahmad ahmed aidan akash akira alain alan albert alberto
    aldo alejandro aleksandar aleksander alessandro alessio alex alexander alexandre alexei alexis alfonso alfred ali allan
    allen alonso alvaro alvin amir amit anand anatoly anders andre andreas andrei andrej andrew andrzej andy angelo angus anil
    anselm anthony antoine anton antonin antonio ari arjun armando armin arne arnold aron arthur arturo arvid ashok asif attila
    august austin axel ayaan balazs barack barry bartosz bashir bela benedikt benjamin benny bernard bernardo bernd bertrand
    bill birger bjarne bjorn bob bogdan bojan boris borja brad bradley brandon brendan brian bruce bruno bryan calvin carl
    carlos casper cecil cedric cesar cesare charles charlie chester chidi chinedu chris christian christof christoph christopher
    chuck ciaran clarence claude claudio clement clifford clint clyde cody colin conor constantin cormac cornelius cosimo craig
    cristian cristiano curtis dale damian damien damir dan daniel daniele danilo danny dario darko darren dave david davide
    davor dean declan deepak denis dennis derek detlef diarmuid diego dieter dietmar dimitri dimitrios dirk dmitri dmitry
    domenico dominic don donald douglas dragan drew duncan dusan dwight eamon earl ebbe eckhard eddie edgar edgardo edmund
    edoardo eduardo edward edwin eike einar eirik ejnar elias elliot elmer elvis emanuel emeka emil emiliano emilio emmanuel
    emre enrique enzo erhard eric erich erik ernest ernesto ernst esteban ethan etienne ettore eugen eugene eusebio evan evgeny
    ezio fabian fabio fabrice fabrizio faisal farid federico felipe felix ferdinand ferenc fergus fernando filip finn finnegan
    flavio florian floyd folke francesc francesco francis francisco francois frank franklin franz fred frederick fredrik
    friedrich fritz gabriel gaetano gareth gary gaspard gavin geert geir gene gennaro geoffrey georg george georges georgi
    georgios gerald gerard gerhard gerrit giacomo gianluca gianni gilbert gilles giorgio giovanni giuseppe glenn goran gordon
    gottfried graeme graham grant greg gregory grzegorz guido guillaume guillermo gunnar gunther gustav gustavo guy gyorgy
    haakon hakan hamza hannes hannu hans harald harold harry haruki harvey hassan heiko heinrich heinz helge helmut hendrik
    henning henri henrik henry herbert heribert herman hermann hiroshi holger horace horst howard hubert hubertus hugh hugo
    humberto ian ibrahim ibrahima ignacio igor ilan ilya immanuel imran ingmar ingo ioannis isaac ishmael ismail istvan ivan
    jaakko jacek jack jacob jacopo jacques jaime jake jakob jakub jalal jamal james jamie jan janek janne janos jared jaroslav
    jason jasper javad javier jay jeff jeffrey jens jeremiah jeremy jerome jerry jerzy jesper jesse jim jimmy jiri joachim
    joakim joao joaquin jochen joe joel johan johann john johnny jonas jonathan joost jordi jorge joris jose josef joseph joshua
    jozef juan juha jukka jules julian julio julius junaid jurgen kacper kaito kamal karel karim karl karthik kasper katsuhiro
    kazimierz keith kelvin ken kenji kenneth kerim kevin khalid kieran klaas klaus knut konrad konstantin kristian kristof
    krzysztof kunal kurt kyle lachlan lance larry lars laszlo laurence laurent lawrence leandro lee leif lennart lenny leo leon
    leonard leonardo leonid leopold leopoldo leroy lester lewis liam lionel lloyd lorenz lorenzo louis lubomir luca lucas
    luciano lucien ludwig luigi luis lukas lukasz luke luther maarten maciej magnus mahmoud malcolm malte manfred manoj manuel
    marc marcel marcello marcin marco marcus marek mario marius mark marko markus martin marvin massimo mateo mateusz mathias
    mathieu matt matteo matthew matthias matti maurice mauricio mauro max maxim maxime maximilian mehdi mehmet melvin micah
    michael michal michel miguel miha mihai mikael mike mikhail mikko milos milton mirco mirko miroslav mitchell
    mohamed mohammad mohammed moritz moses muhammad murray mustafa naoki nathan nathaniel naveen neil nelson nenad niall
    nicholas nick nico nicolas niels nigel nikhil nikita niklas niko nikola nikolai nikos nils noah norman olaf oleg oleksandr
    oliver olivier omar omer onur orson oscar oskar osman oswald oswaldo otmar ottavio otto owen pablo pankaj paolo pascal
    patrick paul paulo pavel pawel pedro pekka percy perry petar pete peter petr petros philip philipp philippe pierluigi pierre
    pietro piotr pranav predrag quentin radek rafael rafal rafe rahul raimund rainer raj rajesh rakesh ralph ramesh ramon
    randall randy raphael rashid raul ravi ray raymond reginald reiner reinhard remi renato rene rhys ricardo riccardo richard
    rick robert roberto robin rodney roger rohan rohit roland rolf romain roman romeo ronald ronan ronnie rory ross roy ruben
    rudi rudolf rui rupert russell ryan sachin saeed salvador salvatore sam sami samir samuel sandeep sandro sanjay santiago
    satoshi saul scott seamus sean sebastian sebastien sergei sergey sergio seth severin shane shinji siddharth sidney siegfried
    sigmund silvio simon slavko slobodan solomon soren spencer stanislav stanley stefan stefano steffen stelios sten stephane
    stephen steve steven stig stuart sunil suresh svein sven szymon tadeusz takashi takeshi tamas tarik tariq ted teemu teodor
    terence terry theo theodore thibault thierry thomas thorsten tiago tiberiu tibor tilo tim timo timothy tobias tom tomas
    tomasz tommy tony torben torsten toru travis trevor tristan tyler udo ulf ulrich umar umberto urs uwe vaclav valentin
    valerio vasily veit velimir vesa victor vijay vikram viktor vincent vincenzo vinicius vishal vittorio vlad vladimir
    vladislav volker waldemar walid walter warren wayne wenzel werner wilfred wilhelm will willem william wim winston wojciech
    wolfgang xavier yann yannick yasin yuri yusuf yves zachary zbigniew zdenek zeljko zoltan zoran`),
} as const;

const COUNTRIES_TEXT = `
  afghanistan, albania, algeria, andorra, angola, argentina, armenia, austria, azerbaijan, bahamas, bahrain, bangladesh,
  barbados, belarus, belgium, belize, benin, bhutan, bolivia, bosnia, botswana, brazil, brunei, bulgaria, burkina faso,
  burma, burundi, cambodia, cameroon, canada, chad, chile, china, colombia, congo, costa rica, croatia, cuba, cyprus,
  czech republic, czechoslovakia, denmark, djibouti, dominican republic, ecuador, egypt, el salvador, england, eritrea,
  estonia, ethiopia, fiji, finland, france, gabon, gambia, georgia, germany, ghana, great britain, greece, greenland,
  grenada, guatemala, guinea, guyana, haiti, honduras, hong kong, hungary, iceland, india, indonesia, iran, iraq, ireland,
  israel, italy, ivory coast, jamaica, japan, jordan, kazakhstan, kenya, korea, north korea, south korea, kosovo, kuwait,
  kyrgyzstan, laos, latvia, lebanon, lesotho, liberia, libya, liechtenstein, lithuania, luxembourg, macau, macedonia,
  madagascar, malawi, malaysia, maldives, mali, malta, mauritania, mauritius, mexico, moldova, monaco, mongolia,
  montenegro, morocco, mozambique, myanmar, namibia, nepal, netherlands, holland, new zealand, nicaragua, niger, nigeria,
  northern ireland, norway, oman, pakistan, palestine, panama, papua new guinea, paraguay, persia, peru, philippines,
  poland, portugal, prussia, puerto rico, qatar, romania, russia, rwanda, samoa, saudi arabia, scotland, senegal, serbia,
  seychelles, sierra leone, singapore, slovakia, slovenia, somalia, south africa, soviet union, spain, sri lanka, sudan,
  suriname, swaziland, sweden, switzerland, syria, taiwan, tajikistan, tanzania, thailand, tibet, togo, tonga, trinidad,
  tunisia, turkey, turkmenistan, uganda, ukraine, united arab emirates, united kingdom, united states,
  united states of america, us, usa, u.s., u.s, u.s.a., uk, u.k., uae, ussr, uruguay, uzbekistan, vatican city, venezuela,
  vietnam, wales, yemen, yugoslavia, zambia, zimbabwe`;

/** Lower case. */
export const COUNTRIES = lines(COUNTRIES_TEXT);

/** Countries, continents, states, regions and large cities, lower case. */
export const PLACES = lines(`
  africa, asia, europe, america, east indies, west indies, north america, south america, latin america, central america, oceania, antarctica, australia,
  middle east, scandinavia, balkans, caribbean, siberia, mediterranean, atlantic, pacific, arctic, alps, andes, himalayas,
  atlantic ocean, pacific ocean, indian ocean, mediterranean sea, north sea, baltic sea, black sea, red sea, sahara
  ${COUNTRIES_TEXT.trim()}
  alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, hawaii, idaho, illinois,
  indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota, mississippi, missouri,
  montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north carolina, north dakota, ohio, oklahoma,
  oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas, utah, vermont, virginia, west virginia,
  wisconsin, wyoming, washington d.c., ontario, quebec, british columbia, alberta, manitoba, nova scotia, queensland,
  new south wales, tasmania, bavaria, saxony, catalonia, andalusia, tuscany, sicily, sardinia, lombardy, normandy,
  brittany, provence, flanders, bohemia, moravia, transylvania, crimea, kashmir, punjab, bengal, kerala, tamil nadu,
  maharashtra, gujarat, bihar, rajasthan, new england, yorkshire, cornwall, kent, sussex, essex, lancashire
  new york city, los angeles, chicago, houston, philadelphia, phoenix, san antonio, san diego, dallas, san jose, boston,
  seattle, denver, detroit, atlanta, miami, minneapolis, cleveland, pittsburgh, baltimore, milwaukee, portland, las vegas,
  new orleans, nashville, memphis, san francisco, oakland, sacramento, salt lake city, st. louis, kansas city, cincinnati,
  brooklyn, manhattan, queens, hollywood, nantucket, new bedford, toronto, montreal, vancouver, ottawa, calgary, london,
  manchester, birmingham, liverpool, leeds, glasgow, edinburgh, bristol, oxford, cambridge, cardiff, belfast, dublin, paris,
  marseille, lyon, nice, bordeaux, toulouse, strasbourg, berlin, hamburg, munich, cologne, frankfurt, stuttgart, dresden,
  leipzig, vienna, salzburg, zurich, geneva, basel, bern, rome, milan, naples, turin, florence, venice, genoa, bologna,
  palermo, madrid, barcelona, seville, valencia, bilbao, lisbon, porto, brussels, antwerp, ghent, bruges, amsterdam,
  rotterdam, the hague, utrecht, copenhagen, stockholm, gothenburg, oslo, bergen, helsinki, reykjavik, warsaw, krakow,
  prague, budapest, bucharest, sofia, belgrade, zagreb, ljubljana, sarajevo, athens, istanbul, constantinople, ankara,
  moscow, saint petersburg, st. petersburg, leningrad, kiev, kyiv, minsk, riga, vilnius, tallinn, tbilisi, yerevan, baku,
  jerusalem, tel aviv, beirut, damascus, baghdad, tehran, cairo, alexandria, tunis, algiers, casablanca, marrakesh, tripoli,
  lagos, nairobi, johannesburg, cape town, dakar, accra, addis ababa, mumbai, bombay, delhi, new delhi, kolkata, calcutta,
  chennai, madras, bangalore, hyderabad, karachi, lahore, islamabad, dhaka, kathmandu, colombo, bangkok, hanoi,
  ho chi minh city, saigon, manila, jakarta, bali, kuala lumpur, beijing, shanghai, guangzhou, shenzhen, nanjing, wuhan,
  tokyo, kyoto, osaka, hiroshima, nagasaki, seoul, busan, pyongyang, taipei, sydney, melbourne, brisbane, perth, adelaide,
  canberra, auckland, wellington, honolulu, mexico city, guadalajara, havana, buenos aires, rio de janeiro, sao paulo,
  brasilia, santiago, lima, bogota, caracas, quito, montevideo, panama city
`);

/** Adjectives and nouns of religions among the `DEMONYMS`. */
export const FAITHS = set(
  'catholic christian hindu islamic jewish muslim protestant quaker buddhist jews muslims christians hindus catholics',
);

/** Adjectives of nations and faiths, and languages: concepts in any context. */
export const DEMONYMS = set(`
  african american arab arabic argentine armenian asian australian austrian babylonian bavarian belgian bengali brazilian
  british bulgarian byzantine canadian catalan catholic celtic chilean chinese christian colombian croatian cuban czech danish
  dutch egyptian english estonian ethiopian european finnish flemish french gaelic georgian german greek hebrew hindi hindu
  hungarian icelandic indian indonesian iranian iraqi irish islamic israeli italian jamaican japanese jewish korean latin latvian
  lithuanian malay malaysian mexican mongolian moroccan muslim nigerian norman norwegian ottoman pakistani persian peruvian
  polish portuguese protestant prussian punjabi quaker roman romanian russian sanskrit scandinavian scottish serbian sicilian
  slovak slovenian soviet spanish swedish swiss syrian tamil telugu thai tibetan turkish ukrainian urdu venetian victorian
  vietnamese viking welsh yiddish anglo-saxon afrikaans buddhist jews muslims christians hindus catholics americans germans
  russians romans greeks europeans africans indians
  afghan albanian algerian angolan azerbaijani bahraini bolivian bosnian burmese cambodian cameroonian congolese cypriot
  ecuadorian emirati eritrean filipino ghanaian guatemalan haitian honduran ivorian jordanian kazakh kenyan kurdish kuwaiti laotian
  lebanese liberian libyan macedonian malian maltese montenegrin namibian nepalese nicaraguan omani palestinian panamanian
  paraguayan qatari rwandan saudi senegalese singaporean somali sudanese taiwanese tanzanian tunisian ugandan uruguayan uzbek
  venezuelan yemeni zambian zimbabwean`);

/** Given names by what their bearers are called. */
export const NICKNAMES: ReadonlyMap<string, readonly string[]> = new Map(
  `abby:abigail alex:alexander,alexandra,alexandre,alejandro,alejandra andy:andrew,andreas barb:barbara basti:sebastian becky:rebecca
  ben:benjamin,benedict beth:elizabeth betty:elizabeth bill:william billy:william bob:robert bobby:robert cathy:catherine
  charlie:charles,charlotte chris:christopher,christian,christina,christine chuck:charles dan:daniel danny:daniel dave:david
  deb:deborah debbie:deborah dick:richard don:donald ed:edward,edwin eddie:edward ellie:eleanor,elizabeth flo:florian,florence
  fran:frances,francis,francesca fred:frederick,alfred,alfredo fritz:friedrich gabe:gabriel greg:gregory gus:augustus,gustav
  hank:henry hans:johannes harry:henry,harold jack:john,jackson jeff:jeffrey jen:jennifer jenny:jennifer jess:jessica jim:james
  jimmy:james joe:joseph joey:joseph johnny:john jon:jonathan josh:joshua kate:katherine,catherine,kathryn,katharina
  kathy:katherine,kathleen katie:katherine,catherine ken:kenneth larry:lawrence lena:helena,magdalena leo:leonard,leonardo,leopold
  liz:elizabeth lizzie:elizabeth lou:louis,louise maggie:margaret mandy:amanda manu:manuel,manuela,emmanuel matt:matthew
  max:maximilian,maxwell meg:margaret,megan mel:melanie,melissa mick:michael mike:michael molly:mary nacho:ignacio nat:natalie,nathaniel
  nate:nathan,nathaniel nick:nicholas,nicolas,nikolas paco:francisco pat:patrick,patricia patty:patricia peggy:margaret
  penny:penelope pepe:josé pete:peter phil:philip,phillip ray:raymond rich:richard rick:richard rob:robert robbie:robert
  ron:ronald sam:samuel,samantha sandy:sandra,alexandra seb:sebastian sepp:josef steph:stephanie,stephen steve:stephen,steven,stefan
  sue:susan,suzanne susie:susan ted:edward,theodore theo:theodore,theodor tim:timothy tina:christina tom:thomas,tomas
  tommy:thomas toni:anton,antonia tony:anthony,antonio trish:patricia uli:ulrich val:valerie,valentina vic:victor,victoria
  vicky:victoria will:william zach:zachary`
    .trim()
    .split(/\s+/u)
    .map((entry): [string, readonly string[]] => {
      const [short = '', full = ''] = entry.split(':');
      return [short, full.split(',')];
    }),
);
