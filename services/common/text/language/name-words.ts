const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));

/** Capitalised abbreviations whose full stop is part of the name. */
export const ABBREVIATED_NAME_PARTS = set(
  'st ste mt ft dr mr mrs ms prof rev fr sen rep gov gen col capt lt sgt jr sr inc ltd co corp bros hon messrs mme',
);

/** Words that are capitalised by rule and never part of a name. */
export const NEVER_NAMES = set(
  'i oh o ah yes ok okay hey aye nay yea thou thee thy thine ye hath doth ere avast hark alas halloa hurrah',
);
export const ARTICLES = set('the a an');
/** Words before a name that are not part of it. */
export const FORMS_OF_ADDRESS = set(
  'mr mrs ms dr prof messrs mme sir madam herr herrn frau señor señora sr sra monsieur madame mademoiselle',
);

const MONTHS = set(
  'january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec',
);
const WEEKDAYS = set(`
  mon tue tues wed thu thur thurs fri sat
  monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
  montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lunes martes miércoles jueves viernes sábado domingo
  lundi mardi mercredi jeudi vendredi samedi dimanche`);
export const CALENDAR_WORDS: ReadonlySet<string> = new Set([...MONTHS, ...WEEKDAYS]);

/** Words that open sentences and are no function words. */
export const SENTENCE_OPENERS = set(
  `according additionally afterwards also although amid among another apparently aside besides born both consequently
  currently despite due earlier eventually finally first firstly following formerly furthermore generally given hence
  meantime presently instantly surely seeing hearing considering hence
  historically however in including indeed initially instead joined last lastly later like likewise located meanwhile
  moreover nearly nevertheless next nonetheless notably numerous obviously occasionally often originally overall
  particularly perhaps presumably previously published recently regarding regardless released second secondly several
  similarly since sometimes somewhere soon starring subsequently therefore third thirdly thus today together tomorrow
  tonight traditionally typically ultimately unfortunately unlike until unless usually various well yesterday written
  hi hello dear hallo liebe lieber hola querido querida estimado estimada bonjour salut cher chère según selon laut
  directed produced based whose whereas chapter section figure table page note see let call look come go take ask tell remind contact
  invite thank thanks send bring talk talked perfect congratulations`,
);

/** Nouns after which `of` introduces an independent name. */
export const HEADS_BEFORE_OF = set(
  `university college institute school academy president king queen prince princess duke earl count emperor empress
  sultan bishop archbishop pope patriarch governor mayor minister secretary chancellor ambassador senator bank city town
  county state province district region republic kingdom empire principality duchy commonwealth federation union
  battle siege treaty invasion conquest fall ministry department government parliament senate assembly court council
  board church diocese archdiocese cathedral museum library gulf bay isle island strait cape port lake coast embassy
  chamber house history languages geography demographics economy politics`,
);

/** Last words of places: with a name in front they are complete, and `of` tells where they lie. */
export const PLACE_HEADS = set(
  'district county city town village province river lake island municipality parish township borough region valley street',
);

/** Last words of events that are told apart by their year. */
export const EVENT_HEADS = set(
  `championship championships olympics cup season games series election elections open prix awards census festival
  tournament league final finals convention conference expo fair marathon bowl masters race rally tour draft outbreak
  earthquake revolution war riots crisis act treaty referendum`,
);

/** Regular expression alternatives of units after a number. */
export const NUMBER_UNITS =
  'percent|per cent|dollars?|euros?|pounds?|yen|kilomet(?:er|re)s?|met(?:er|re)s?|centimet(?:er|re)s?|millimet(?:er|re)s?|miles?|feet|foot|inches|inch|yards?|acres?|hectares?|square miles|km²?|m²|km2|cm|mm|mi|ft|kg|kilograms?|grams?|tons?|tonnes?|lbs?|lit(?:er|re)s?|gallons?|barrels?|hours?|minutes?|seconds?|days?|weeks?|months?|years?|people|inhabitants|residents|students|members|employees|soldiers|degrees?|watts?|MW|GW|kW|Hz|MHz|GHz|bytes?|KB|MB|GB|TB|points?|votes?|copies|times|knots|fathoms|mph|kph|km/h';
