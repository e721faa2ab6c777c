const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));
const lines = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s*[,\n]\s*/u));

/** Given names, lower case: frequent ones of English and of the larger languages in Latin script. */
export const GIVEN_NAMES = {
  female: set(`
    ada agnes aisha alexandra alice alicia amanda amelia amy ana andrea angela anita anna anne annie antonia astrid audrey
    barbara beatrice belinda beth betty bianca brenda brigitte camila camille carla carmen carol caroline catherine cecilia
    charlotte chloe christina christine cindy claire clara claudia cynthia daisy daniela deborah denise diana diane dolores
    donna dora doris dorothy edith eileen elaine eleanor elena elisabeth elise elizabeth ella ellen elsa emily emma erica
    erika esther eva evelyn fatima fiona florence frances gabriela gail georgia gina gisela gloria grace greta hannah harriet
    hazel heather heidi helen helena helga hilary ida ines ingrid irene iris isabel isabella ivy jacqueline jane janet janice
    jasmine jean jenna jennifer jenny jessica jill joan joanna josephine joyce juanita judith judy julia julie juliet karen
    karin kate katherine kathleen kathy katie katrina kim kimberly kirsten laura lauren leah leila lena leslie lily linda lisa
    liza lois lorraine louise lucia lucy luisa lydia lynn madeleine maggie mandy margaret maria marian marie marilyn marina
    marion martha mary matilda maureen maya megan melanie melissa mercedes mia michelle mildred miranda miriam molly monica
    nadia nancy naomi natalia natalie natasha nicole nina nora norma olga olivia pamela patricia paula pauline penelope phyllis
    priya rachel rebecca regina renata rita roberta rosa rosalind rose rosemary ruth sally samantha sandra sara sarah sharon
    sheila shirley silvia simone sofia sonia sophia sophie stella stephanie sue susan suzanne sylvia tamara tanya tara teresa
    tina tracy ursula valerie vanessa vera veronica victoria viola virginia vivian wanda wendy yolanda yoko yvonne zoe`),
  male: set(`
    benny aaron abdul abraham adam adrian ahmed akira alan albert alberto alejandro alex alexander alfonso alfred ali allan allen
    alvin andre andreas andrew andy angelo anthony antoine antonio arnold arthur august austin barack barry benjamin bernard
    bill bob boris brad bradley brandon brian bruce bruno calvin carl carlos cecil cesar charles charlie chester chris
    christian christoph christopher chuck clarence claude clifford clint clyde colin craig curtis dale dan daniel darren dave
    david dean dennis derek diego dieter dimitri dmitri dominic don donald douglas drew duncan dwight earl eddie edgar edmund
    eduardo edward edwin elliot elmer elvis emil emmanuel enrique eric erich erik ernest ernst eugene evan felipe felix
    fernando floyd francesco francis francisco francois frank franklin franz fred frederick friedrich fritz gabriel gareth
    gary gavin gene geoffrey george georges gerald gerard gerhard gilbert giovanni giuseppe glenn gordon graham grant greg
    gregory guido guillermo gunther gustav guy hans harold harry harvey hassan heinrich henri henrik henry herbert herman
    hermann hiroshi horace howard hubert hugh hugo ian ibrahim igor immanuel ingmar isaac ivan jack jacob jacques jake james
    jamie jan jared jason javier jay jeff jeffrey jeremy jerome jerry jesse jim jimmy joachim joao joe joel johan johann
    john johnny jonas jonathan jorge jose josef joseph joshua juan julian julio julius jurgen karl keith kelvin ken kenneth
    kevin klaus konrad kurt kyle lance larry lars lawrence lee leo leon leonard leonardo leonid leopold leroy lester lewis
    liam lionel lloyd lorenzo louis lucas ludwig luigi luis luke luther malcolm manuel marc marcel marcello marco marcus
    mario mark martin marvin matt matthew maurice max maximilian melvin michael michel miguel mike mikhail milton mitchell
    mohamed mohammed muhammad murray nathan nathaniel neil nelson nicholas nick nicolas nigel nikola nikolai norman oliver
    omar orson oscar oskar oswald otto owen pablo pascal patrick paul pedro percy perry pete peter philip philippe pierre
    pietro rafael ralph ramon randall randy raul ray raymond reginald rene ricardo richard rick robert roberto robin rodney
    roger roland rolf roman ronald ronnie rory ross roy rudolf rupert russell ryan salvador salvatore sam samuel santiago
    saul scott sean sebastian sergei sergio seth sidney siegfried sigmund simon spencer stanley stefan stephen steve steven
    stuart ted terence terry theodore thomas tim timothy tobias tom tommy tony travis trevor tyler umberto victor viktor
    vincent vladimir walter warren wayne werner wilfred wilhelm will willem william winston wolfgang xavier yuri yusuf
    zachary ishmael moses noah solomon`),
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
