const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));

const OFFICE_INITIALS = 'ceo cto cfo coo cio cmo';

const OFFICES = set(OFFICE_INITIALS);

/** Whether a word is an office that is written like a name: `CEO`. */
export function isOffice(word: string): boolean {
  return /^\p{Lu}+$/u.test(word) && OFFICES.has(word.toLowerCase());
}

/** Ranks and offices that are no part of the name behind them: `Captain Ahab` is Ahab. Lower case. */
export const ROLE_TITLES = set(`
  captain capt colonel col general gen major lieutenant lt sergeant sgt corporal commander commodore admiral professor prof
  doctor dr senator sen congressman congresswoman representative rep president governor gov mayor judge justice minister
  chancellor secretary ambassador manager reverend rev mr mrs ms miss sir madam detective inspector constable officer coach chairman director
  uncle aunt ${OFFICE_INITIALS}`);

/** Capitals that name nothing: times of day, eras, abbreviations of common words. Lower case. */
export const NOT_NAMES = set(
  `${OFFICE_INITIALS} am pm bc bce ad ce tv aka etc vs ok id pr cd dvd pc eur usd gbp chf iban bic faq asap diy eta fyi todo aob tbd tbc wfh btw lol mw kw gw hz mhz ghz kb mb gb tb km kg cm mm hp mph est gmt utc edt pst kst jr sr no none nobody somebody someone anyone everyone vol pp nd rd th st p.s. v.`,
);

/** Verbs and calls of older English that open sentences. Lower case. */
export const OLD_WORDS = set(
  'tis twas twere twill twould canst dost hast art wilt shalt wert wherefore hist thar methinks behold ha hm hallo ho lo bless damn',
);

/** Organisations known by their initials. Lower case; of other initials only the text can tell what they mean. */
export const ORGANISATION_INITIALS = set(`
  nba wnba nfl nhl mlb mls ncaa fifa uefa fiba icc ioc wwe wwf wcw ufc nascar pga un eu nato unesco unicef imf wto opec asean nasa
  fbi cia nsa kgb mi5 mi6 nypd lapd bbc cbs nbc abc hbo mtv espn itv pbs npr cnn fox ibm mit ucla usc lse bmw kbs nhk rai
  usaf raf irs fda epa usgs usda noaa nih cdc nsf faa fcc ftc dea dhs nasdaq nyse eeoc hud kpmg pwc ubs hsbc basf sap ard zdf rtl spd cdu csu fdp afd psoe snp gchq bnd aclu naacp ymca plo ira who csiro cern esa afl epl cfl xfl aba wha usl nwa ecw tna emi rca mgm rko`);

/** Adjectives in front of a name that people have: `poor Queequeg`. */
export const PERSONAL_ADJECTIVES = set(
  'poor old young dear little brave mad noble honest good sweet wise wicked wretched',
);

/** Nouns that only a person owns: `Queequeg's hand`. */
export const PERSONAL_THINGS = set(`
  wife husband son daughter father mother brother sister uncle aunt cousin friend widow hand arm leg head face eye brow cheek
  finger foot hair heart mind soul voice shoulder lip mouth knee wrist word speech opinion hat coat pocket boot shirt career death
  birth life childhood marriage parents children family girlfriend boyfriend fiancé fiancée biographer portrayal`);

/** Adjectives that say how good, large or late something is, not which class it is of. */
export const JUDGING_ADJECTIVES = set(`
  former famous noted notable prominent small large big great good young old early late current retired well-known popular
  important major minor leading successful new original historic semi-retired long-running queer strange fine rare certain true
  real unknown main chief principal`);

/** Titles that belong to the name: `Queen Victoria`, `Pope Francis`. */
export const NAME_TITLES = set(
  'king queen prince princess emperor empress pope saint st lord lady duke duchess baron baroness earl count countess sultan tsar czar father mother brother sister cardinal bishop archbishop',
);

export const PLACE_ENDINGS = set(`
  river lake county island islands isle isles mountain mountains hill hills valley city town township village borough
  district province region state territory peninsula bay gulf strait sea ocean creek falls waterfall canyon desert forest park
  gardens garden street avenue road highway boulevard square bridge airport station harbor harbour port beach coast canal dam
  reservoir castle palace tower hall house stadium arena cemetery fortress sands ridge range peak summit cliffs rock slip inn hotel tavern wharf grounds heights springs wells trail camp field fields crossing junction farm ranch mine shore massif cove lagoon archipelago airfield meadow meadows mill mills observatory lighthouse zoo cathedral temple fort glacier plateau cape reef basin
  plaza building peaks point motorway expressway freeway mausoleum monument pass dunes plains woods wilderness preserve refuge campus loch glen fjord firth heath moor marsh swamp wetlands pond tunnel viaduct pier precinct parish prefecture oblast municipality kingdom republic empire`);

export const PLACE_BEGINNINGS = set(
  'camp mount mt mont monte monti col lake lac lago cape fort port isle gulf bay river loch san santa são',
);

export const ORGANISATION_ENDINGS = set(`
  inc inc. corp corp. corporation company co co. ltd ltd. limited llc plc gmbh ag group holdings enterprises industries
  university college institute institution school academy faculty laboratory laboratories bank trust fund foundation
  association society union federation confederation league alliance organization organisation committee commission council
  board agency authority bureau ministry department office service services parliament congress senate assembly court party
  club team church museum library hospital orchestra ensemble choir band quartet records press publishing publishers
  publications media network radio television studios pictures entertainment productions films airlines airways railway
  railways motors electric electronics pharmaceuticals systems technologies technology software army navy force forces
  police guard regiment brigade squadron battalion division f.c. fc a.f.c. sa s.a s.a. s.p.a s.p.a. srl sarl sas bv nv oy kg ev kgaa exchange government united rovers wanderers athletic brothers bros bros. & sons partners
  consortium coalition tv outdoor outdoors roasters roastery logistics interiors catering consulting plumbing pharmacy supermarket bikes cycles books railroad corps command commands unit choir philharmonic studio legion riksdag storting bundestag bundesrat knesset duma sejm folketing afc cf sc fk sk bk ltda center centre initiative administration movement nations legislature judiciary tribunal inquiry task league leagues conference representatives beauty lords commons`);

/** Parts of a company's name that speech omits. */
export const LEGAL_FORMS = set(
  'inc corp corporation company co ltd limited llc plc gmbh ag group holdings enterprises industries & sons',
);

export const ORGANISATION_BEGINNINGS = set(
  'university college institute bank ministry department school academy church museum board council',
);

/** In front of the name of a sports club: `AFC Bournemouth`, `FK Partizan`. */
export const CLUB_BEGINNINGS = set(
  'fc afc cf cd sc ac as ss us rc ud sv tsv vfb vfl bsc fk nk bk hc kk sk atlético deportivo real sporting dynamo lokomotiv',
);

/** Companies, media, armed forces and other bodies that are known by one word. Lower case. */
export const KNOWN_ORGANISATIONS = set(`
  google microsoft netflix facebook twitter youtube amazon ebay paypal spotify uber airbnb tesla boeing airbus lockheed raytheon
  walmart tesco aldi lidl carrefour ikea starbucks mcdonald's nestlé unilever danone siemens bosch bayer basf thyssenkrupp
  lufthansa ryanair easyjet allianz axa adidas puma nike nokia ericsson samsung sony panasonic toshiba hitachi fujitsu toyota
  honda nissan mazda mitsubishi hyundai kia volkswagen audi porsche ferrari fiat renault peugeot citroën volvo saab huawei
  xiaomi lenovo dell intel nvidia oracle cisco adobe salesforce accenture deloitte pricewaterhousecoopers kpmg mckinsey
  jpmorgan citigroup barclays santander vodafone telefónica verizon pfizer novartis roche sanofi astrazeneca gazprom rosneft
  chevron exxonmobil disney pixar dreamworks nickelodeon reuters bloomberg polydor motown capcom nintendo sega ubisoft
  greenpeace oxfam interpol europol taliban hezbollah hamas wehrmacht luftwaffe kriegsmarine gestapo stasi bundeswehr mossad
  harvard yale princeton stanford cornell dartmouth rutgers purdue caltech eton
  philips hetzner digitalocean cloudflare stripe klarna revolut monzo n26 paypal adyen zalando rewe edeka migros 
  mediamarkt fnac decathlon hornbach rossmann sainsbury's waitrose morrisons costco
  sncf renfe öbb trenitalia eurostar flixbus easyjet vueling finnair klm iberia qantas blablacar booking.com expedia
  telekom vodafone o2 swisscom telenor telia tdc tele2 bouygues telstra at&t comcast verizon t-mobile
  dhl fedex dpd deloitte capgemini infosys wipro cognizant asus acer logitech garmin gopro sonos
  openai anthropic deepmind atlassian mozilla canonical jetbrains hashicorp
  schaeffler trumpf miele liebherr festo kuka infineon henkel rheinmetall hapag-lloyd maersk
  thales safran alstom michelin l'oréal danone sodexo veolia maif macif groupama axa
  telefónica iberdrola repsol inditex mapfre bbva sabadell cepsa caixabank mercadona movistar
  rabobank triodos commerzbank sparkasse volksbank postbank comdirect debeka barmer aok
  barclays natwest hsbc aviva bupa ocado deliveroo uber lyft doordash
  unhcr amnesty wwf ymca`);

export const WORK_ENDINGS = set(`
  symphony sonata concerto suite opera overture requiem magazine journal newspaper gazette times herald tribune chronicle
  bible encyclopedia dictionary album soundtrack trilogy saga manifesto constitution treaty act`);

export const CONCEPT_ENDINGS = set(`
  war wars battle revolution crisis theory theorem law principle effect syndrome disease award awards prize medal
  championship championships cup olympics games season election elections festival age era dynasty language languages
  religion century project program programme operation siege conference agreement accord`);

/** Words in front of a name that tell its type. */
export const TYPE_NOUNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Work: 'novel book film movie album song single play poem opera painting series episode game show magazine newspaper journal track musical documentary sitcom comic essay story miniseries sequel drama comedy memoir poem sculpture symphony',
    Person:
      'actor actress singer author writer novelist poet director producer composer artist painter musician scientist physicist chemist mathematician philosopher politician president king queen emperor captain son daughter wife husband brother sister father mother friend colleague guitarist drummer bassist vocalist player coach footballer professor wrestler skier cricketer businessman businesswoman lawyer soldier comedian dancer swimmer runner walker athlete boxer economist historian bishop priest general judge leader man woman boy girl pilot fielder pitcher quarterback nurse doctor teacher student mentor instructor harpooneer sailor mate captain native resident inhabitant citizen executive theologian linguist engineer architect rapper journalist editor boss neighbor neighbour cousin uncle aunt grandmother grandfather',
    Place:
      'city town village river lake island county state province country region district mountain capital suburb neighborhood neighbourhood street port airport municipality commune hamlet borough parish peninsula bay valley ridge territory settlement township cathedral castle stadium bridge stream tributary glacier community enclave diocese archdiocese deanery',
    Product:
      'database framework tool toolkit app application software device gadget phone smartphone laptop computer printer browser plugin compiler camera router sensor drug medicine console car motorcycle bike aircraft locomotive missile rifle wine beer',
    Organisation:
      'company band group university college school organization organisation bank team club label studio firm agency party publisher newspaper airline startup conference league club distributor manufacturer retailer orchestra charity museum',
  }).flatMap(([type, nouns]) => nouns.split(' ').map((noun): [string, string] => [noun, type])),
);

/** In front of a name they tell who speaks: `said Queequeg`. Lemmas. */
export const SPEECH_VERBS = set(
  'say tell ask reply answer cry shout whisper think exclaim mutter murmur call add continue begin return roar sigh growl respond observe remark interrupt rejoin demand ejaculate declare',
);

/** Nouns over lists of names that tell less in front of a name. */
export const HEADING_NOUNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Person:
      'people attendees participants contributors members team guests speakers persons personen teilnehmer personas personnes',
    Place: 'places sights destinations orte lugares lieux',
    Organisation: 'customers clients suppliers vendors sponsors competitors companies firmen',
    Product: 'tools software hardware stack products technologies gear equipment werkzeuge herramientas outils',
  }).flatMap(([type, nouns]) => nouns.split(' ').map((noun): [string, string] => [noun, type])),
);

/** Lemmas whose subject is a person. */
export const PERSON_VERBS = set(
  'say tell ask reply answer cry shout whisper think believe know love marry die write sing laugh smile walk sit stand look nod speak exclaim mutter murmur feel remember teach study graduate retire bear compose paint call resign turn rise glance stare gaze kneel sleep wake eat drink dress wish hope want seize snatch grin frown shrug sigh hesitate pause pray swear drop leap jump climb step stoop shake rush',
);

/** Nouns and adjectives too general to connect texts or to name a class. */
export const WEAK_WORDS = set(`
  yesterday tonight btw lol tho haha imo omg loads
  other same such many much several various first second third last next few new old own certain different main
  whole total good great little big more most less least number part kind sort type way thing time day year lot
  bit piece side case fact moment month week weekend hour minute thanks end rest top bottom middle front back side
  half couple pair set group member list area line lot matter sense idea reason result example problem question
  answer sir thou thee thy thine ere aye nay yea figure name term form amalgam combination`);

/** Common words that are surnames as well: at the end of a name they do not speak against a person. Lower case. */
export const WORDS_AND_SURNAMES = set(`
  young king brown white black green smith cook baker long hunter fisher wood woods stone hill bell page bush rice price grant
  ford reed cross day may west north drew field fuller rose marsh moore gray grey fox wolf bird knight bishop pope noble sharp
  stark swift rich hope love golden waters rivers brooks banks parks wells mills fields meadows church hall house castle chase
  chambers guest power powers best little small short strong weaver miller carter parker porter potter taylor turner walker
  wright mason butler archer gardner shepherd singer major judge ray lane street winter summers bacon bean berry lamb crow hawk
  duke earl baron prince sweet savage bond case coach heath kite law lord ring root sadler shaw spring steel temple tower
  ward webb yates block lock carpenter dean mayor bank park player post gates fields abbot monk barber cooper glass gold silver`);

/** Ends of places that are surnames as well: behind a given name they are one (`Benny Hill`, `Sally Field`). */
export const PLACES_AND_SURNAMES = set(
  'hill hall church lake field forest house rivers castle street rock camp fields wells mills meadows farm park',
);
