const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));
const lines = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s*[,\n]\s*/u));

/** Given names, lower case: frequent ones of English and of the larger languages in Latin script. */
export const GIVEN_NAMES = {
  female: set(`
    aaliyah abena abigail achieng ada adaeze adele adelheid aditi adriana agata agnes agnieszka aiko aileen ailsa aina ainhoa
    aino aisha akiko akosua aleksandra alessandra alessia alexandra alice alicia alina alison alma almudena alzbeta amal amanda
    amara amelia amina amparo amy ana anais ananya anastasia andrea aneta angela angharad anita anja anjali anke anna anne
    annegret anneke anneli anneliese annie annika anouk antje antonella antonia anya aoife aparna apolline araceli archana
    ariana arianna aslaug asli astri astrid audrey aurelie aurora ava aya ayesha aylin ayse ayumi azadeh barbara beata beatrice
    beatriz belinda berenice beth bettina betty bianca birgit birte boglarka bogna bozena brenda bridie brigitte britta bronwyn
    busra camila camille caoimhe capucine carina carla carme carmen carol carolina caroline carys catherine catriona cecile
    cecilia celine cerys charlotte chiamaka chiara chidinma chiyo chloe christina christine ciara cindy claire clara claudia
    clemence clementine constance consuelo coralie cynthia dagmar daisy daniela danuta daphne deborah deepa defne deirdre denise
    derya despina diana diane divya dolores dominika donatella donna dora doris dorota dorothea dorothy dorte ebba ebru edda
    edeltraud edith edyta eeva efua eileen eilidh eimear ekaterina elaine eleanor elena eleni elif elin elina elisabeth elise
    eliska elizabeth elke ella ellen elodie eloise elsa elzbieta emese emi emilia emilie emily emine emma eniko erica erika esra
    estefania esther eszter eugenia eva evelyn ewa fabienne fanny farah fatima fatma federica femke ferah ffion fiammetta fiona
    fiorella florence folake franca frances frauke frida frieda friedel friederike fumiko gabriela gabriele gaelle gail gayatri
    gemma genevieve georgia gerda gerlinde ghislaine giada gina ginette ginevra giorgia giovanna gisela gitte giulia gizem
    gloria grace graciela grainne graziella grazyna greta gudrun gudula guro gwen gwenllian hadas halina hana hanka hanna hannah
    hanne hanneke hannele hannelore harriet haruka hatice hazel heather hedvig hedvika heidi heike helen helena helga heli
    henrietta hilary hilde hildegard hiroko huguette hulya ida ifeoma ilaria ildiko ilka ilona ilse imke imogen inbal ines inga
    ingeborg inger ingrid ingvild insa ioana irena irene irina iris irmgard isabel isabella isabelle isolde itziar ivana ivona
    ivy iwona izabela jacqueline jadwiga jagoda jana jane janet janice janine jasmin jasmine jean jelena jenna jennifer jenny
    jessica jette jill jimena jitka joan joana joanna jodie johanna jolanta jordina josefine josephine josette josiane joyce
    juanita judith judy juhi jule julia julie juliet justyna jyoti kaisa kaja kamila karen karima karin karina karolina karoline
    kasia katalin katarina katarzyna kate katerina katherine kathleen kathrin kathy katie katja katrina katya kavita keiko
    kerstin khadija kim kimberly kinga kirsi kirsteen kirsten klara kornelia kristen kristin kristina laetitia laia laleh lalita
    lara larissa latifa laura lauren lavinia layla leah leena leila leire lena lenka leonie lerato leslie leticia letizia levke
    leyla lidia liesbeth lieselotte liisa lilian liliana lily linda linnea lisa liselotte liv liza ljubica lois loredana
    lorraine lotte louisa louise lowri lucia lucie lucija lucy lucyna ludivine ludmila luisa lydia lynn madeleine maelle magda
    magdalena maggie mahsa mairead maite maja malgorzata malin mandy manon maren margaret margarete margaux margit margot maria
    mariam marian mariana marianne maribel marie marieke marija marika marilyn marina marion marisa marisol marit marjorie
    marketa marlene marlies marta martha martina martine mary maryam marzena mathilde matilda maud maureen maxine maya mayumi
    mechthild meera megan mei melanie melissa merce mercedes merete merle merve mette mia michaela michelle michiko mildred
    milena milica mina mira miranda mireia mireille mirela miriam mirjam miroslawa mitsuko molly mona monica monika monique
    morag morgane nadia nadine nadja naima naledi nalini nancy naoko naomi nasrin natalia natalie natasa natasha nawal nazli
    neelam neha nele nerea nerys ngozi niamh nicole nicoletta nidhi nikolina niloufar nina nisha nkechi noelia noemi noemie
    nomsa noor nora noriko norma nuria nyambura oceane odette odile oksana olena olga olivia orla ornella orsolya ottavia
    ottilie ozlem padma paivi palesa pallavi pamela paola parisa patricia paula paulina pauline penelope pernille perpetua petra
    philippa phyllis pia pilar pinar piroska pooja preeti priya rabia rachel radka raffaella ragnhild rania raquel rasa rebecca
    regina reka rekha renata renate rhiannon ricarda riitta rita ritu rivka roberta rocio roisin romy ronit rosa rosalie
    rosalind rosaria rose rosemarie rosemary rosie roswitha roxana roxanne ruqayyah ruth sabina sabine sabrina sachiko sakura
    sally salma samantha samira sandra sanja sanna saoirse sara sarah sasha saskia segolene selin selma sevgi shanti sharon
    sheila shirin shirley shona shreya shweta sigrid silja silke silvana silvia simone sinead sinikka siobhan sioned siphokazi
    siri sneha snezana sofia solange solveig sonia sonsoles sophia sophie soraya souad stefania stella stephanie stine sue
    sumaya sunita susan susana susanna susanne suzanne suzette svea svenja svetlana swantje swati sylvia tamar tamara tanja
    tanya tara tatiana tatyana telse teodora teresa teresita tereza thandi thea theda thora tiina tilda timea tina titilayo
    tomoko tonya tove tracy traute trine trudy turid tuula ulla ulrike uma ursel ursula valerie vanessa vasilisa vera verena
    veronica veronique vesna vibeke victoria viola virginia vivian vivien vivienne vlasta waltraud wambui wanda wanjiru wencke
    wendy weronika wiebke wilhelmina xenia ximena yael yara yasemin yasmin yetunde ylva yoko yolanda yuki yulia yvette yvonne
    zainab zanele zara zdenka zeynep zoe zofia zohra zoya zsofia zsuzsanna zuzana zuzanna`),
  male: set(`
    aarav aaron abdul abdullah abraham achim adam adil adrian agustin ahmad ahmed aidan aitor ajay akash akira alain alan
    alasdair albert alberto aldo aled alejandro aleksandar aleksander alessandro alessio alex alexander alexandre alexei alexis
    alfonso alfred ali allan allen alonso alvaro alvin amir amit anand anatole anatoly anders andoni andre andreas andrei andrej
    andres andrew andrzej andy angelo angus anil anselm anthony antoine anton antonin antonio antti ari aristide arjun armando
    armin arnau arne arnold aron arthur arturo arvid ashok asier asif attila august augustin aurelien austin axel ayaan ayodele
    aziz babak babatunde balazs baptiste barack baran baris barry bartosz bashir bastien behrouz bela bence benedikt benito
    benjamin benny bernard bernardo bernat bernd bertrand bijan bilal bill birger bjarne bjorn bob bogdan bohumil bojan bongani
    boris borja brad bradley bram brandon brendan brian bruce bruno bryan bulent burak callum calvin carl carlos carmelo
    casimiro casper cecil cedric cenk cesar cesare charles charlie chester chidi chinedu chris christian christof christoph
    christopher chuck chukwudi ciaran ciro clarence claude claudio clement clifford clint clyde cody colin conor constantin
    corentin cormac cornelius cosimo craig cristian cristiano csaba curtis daan dafydd daichi daisuke daithi dale damian damien
    damir dan daniel daniele danilo danny dario darius dariush dariusz darko darren dave david davide davor dean declan deepak
    denis deniz dennis derek detlef diarmuid didier diederik diego dieter dietmar dimitri dimitrios dinesh dirk dmitri dmitry
    domenico dominic don donald douglas dragan drew driss duncan dusan dwight eamon earl ebbe eckhard eddie edgar edgardo edmund
    edoardo eduardo edward edwin eero eike einar eirik eitan ejnar elias elliot elmer elvis emanuel emeka emil emile emiliano
    emilio emmanuel emre emyr enes enno enrique enzo eoghan ercan eren erhan erhard eric erich erik ernest ernesto ernst erwan
    esben eskil esteban ethan etienne ettore euan eugen eugene eugenio eusebio evan evaristo evgeny ewan ezequiel ezio fabian
    fabio fabrice fabrizio faisal farhad farid fausto federico felipe felix femi ferdinand ferenc fergus fermin fernando ferran
    fiete filip finn finnegan fionn firmin flavio florian floris floyd folke francesc francesco francis francisco francois frank
    franklin franz fraser fred frederick fredrik freek friedrich fritz frode fulgencio furkan gabriel gaetan gaetano gareth gary
    gaspard gaurav gavin geert geir gene gennaro geoffrey georg george georges georgi georgios geraint gerald gerard gergely
    gerhard gernot gerrit gethin giacomo gianluca gianni gideon gijs gilad gilbert gilles giorgio giovanni giuseppe glenn
    gonzalo goran gordon gorka gottfried graeme graham grant greg gregory grzegorz guido guillaume guillermo gunnar gunther
    gustav gustavo guy gwenael gwilym gyorgy haakon hakan halil halvor hamish hamza hannes hannu hans harald harish harold harry
    hartmut haruki haruto harvey hassan hauke hector heikki heiko heinrich heinz helge helmut hendrik henning henri henrik henry
    herbert heribert herman hermann herve hicham higinio hinnerk hiroshi hiroyuki hjalmar holger horace horacio horst howard
    hubert hubertus hugh hugo huib humberto huw iain ian ibrahim ibrahima idris ignacio igor ikenna ilan ilhan ilkka ilya
    immanuel imran inaki ingmar ingo ingvar inigo ioannis iolo isaac isamu ishmael isidro ismail istvan itai ivan jaakko jaap
    jacek jacinto jack jacob jacopo jacques jaime jake jakob jakub jalal jamal james jamie jan janek janne jannes janos jared
    jaroslav jaroslaw jason jasper javad javier jay jeff jeffrey jelle jeno jens jeppe jeremiah jeremy jerome jerry jerzy jesper
    jesse jim jimmy jiri joachim joakim joao joaquin jochen joe joel johan johann john johnny jokin jonas jonathan joost jordi
    jorge jorgen joris jorne jose josef josep joseph joshua jozef juan juha juhani jukka jules julian julio julius junaid jurgen
    jussi kaan kacper kaito kalman kamal kamau karel karim karl karsten karthik kasper katsuhiro kaveh kazimierz kazuki kazuo
    keith kelechi kelvin ken kenji kenneth kerem kerim kevin khalid kieran kipchoge kiprono kiran klaas klaus knut koen kofi
    kojo koldo konrad konstantin kourosh kristian kristof krzysztof kunal kunle kurt kwabena kwame kyle lachlan lance larry lars
    lasse laszlo laurence laurent lawrence leandro lee leif lennart lenny leo leon leonard leonardo leonid leopold leopoldo
    leroy lester leszek levente lewis liam lionel lisandro lloyd loic lorcan lorenz lorenzo lotfi louis lubomir lubos luca lucas
    luciano lucien ludwig luigi luis lukas lukasz luke luther lutz lwazi maarten macario maciej magnus mahesh mahmoud malcolm
    malik malte mandla manfred manish manoj manuel marc marcel marcello marcin marco marcus marek mario marius mariusz mark
    marko markus martin marvin masao massimo mateo mateusz mathias mathieu matias matt matteo matthew matthias matthieu matti
    mattias maurice mauricio mauro max maxim maxime maximilian mehdi mehmet melvin micah michael michal michel mieczyslaw miguel
    miha mihai mikael mike mikel mikhail mikkel mikko miklos milos miloslav milton minoru mirco mirko miroslav miroslaw mitchell
    mohamed mohammad mohammed momme moritz morten moses moshe mourad muhammad mukesh murat murdo murray mustafa mwangi nabil
    nadeem naoki nathan nathaniel naveen neil nelson nenad nestor niall nicanor nicholas nick nico nicolas niels nigel nikhil
    nikita niklas niko nikola nikolai nikos nils nino nitin noah noboru norbert norman nunzio obinna ochieng oisin okan olaf
    oleg oleksandr oliver olivier olu oluwaseun omar omer ondrej onofre onur orhan oriol orson osamu oscar oskar osman osvaldo
    oswald oswaldo otieno otmar ottavio ottmar otto owain owen ozgur pablo padraig pankaj paolo pascal pascual patrick paul
    paulo pavel pawel pedro pekka percy perry petar pete peter petr petros philip philipp philippe pierluigi piero pierre pieter
    pietro piotr prakash pranav predrag przemyslaw quentin quirino rachid radek radoslaw rafael rafal rafe raffaele ragnar rahul
    raimund rainer raj rajesh rakesh ralph ramesh ramin ramiro ramon randall randy raphael rashid rasmus raul ravi ray raymond
    reginald reiner reinhard remi remy renato rene renzo reza rhys ricardo riccardo richard rick robert roberto robin rodney
    rodrigo rogelio roger rohan rohit roland rolf romain roman romeo ronald ronan ronen ronnie rory ross roy ruairi ruben rudi
    rudiger rudolf rui rupert russell ryan ryota sachin saeed salman salvador salvatore sam sami samir samuel sandeep sander
    sandor sandro sanjay santiago satoru satoshi saturnino saul scott seamus sean sebastian sebastien segun selim serge sergei
    sergey sergi sergio serkan seth severin shane shankar shigeru shinji shlomo shota siavash siddharth sidney siegfried sigmund
    sigurd silvio simon sindre sipho sjoerd slavko slawomir slimane slobodan solomon sonke soren spencer srinivas stanislav
    stanislaw stanley stefan stefano steffen stelios sten stephane stephen steve steven stig stuart sunil suresh svein sven
    svend szabolcs szymon tadeusz tadhg takashi takeshi takumi tamas tanguy tapio tarik tariq tarun ted teemu teodor teodoro
    terence terry tetsuo teun thabo themba theo theodore thibault thibaut thierry thies thijs thomas thorben thorsten tiago
    tiberiu tibor tilo tim timo timothy tiziano tobias tolga tom tomas tomasz tommaso tommy tomohiro tony torben torstein
    torsten toru travis trevor tristan trond tunde turgut tyler uche udo ulf ulrich umar umberto umut unai urs usman uwe vaclav
    valentin valerio varun vasily veikko veit velimir venancio vesa vicente victor vijay vikram viktor vincent vincenzo vinicius
    vinod vishal vittorio vivek vlad vladimir vladislav vojtech volker waldemar walid walter warren wayne wenzel werner wilfred
    wilhelm will willem william wim winfried winston witold wojciech wolfgang wouter xabier xavier yann yannick yasin yasuhiro
    yonatan yuri yusuf yves zacarias zachary zbigniew zdenek zeljko zoltan zoran zsolt zubair zygmunt`),
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
