// Words of the calendar in English, German, Spanish and French, in lower case.

/** Numbers the groups of words; those of a group are joined by `|`. */
function numbered(groups: string, first: number): ReadonlyMap<string, number> {
  const list = groups.trim().split(/\s+/u);
  return new Map(list.flatMap((group, at) => group.split('|').map((word): [string, number] => [word, at + first])));
}

/** Matches one of the words, the longest first. */
export function oneOf(words: ReadonlyMap<string, unknown>): string {
  return [...words.keys()].toSorted((a, b) => b.length - a.length).join('|');
}

/** 1 to 12. */
export const MONTHS = numbered(
  `january|januar|jänner|enero|janvier february|februar|febrero|février march|märz|marzo|mars april|abril|avril may|mai|mayo
  june|juni|junio|juin july|juli|julio|juillet august|agosto|août september|septiembre|setiembre|septembre
  october|oktober|octubre|octobre november|noviembre|novembre december|dezember|diciembre|décembre`,
  1,
);
/** Also in short, as with a day: `6 Apr`. */
export const ALL_MONTHS: ReadonlyMap<string, number> = new Map([
  ...numbered('jan feb mar apr may jun jul aug sep oct nov dec', 1),
  ['sept', 9],
  ...MONTHS,
]);
/** 0 is Monday. */
export const WEEKDAYS = numbered(
  `monday|montag|lunes|lundi tuesday|dienstag|martes|mardi wednesday|mittwoch|miércoles|mercredi
  thursday|donnerstag|jueves|jeudi friday|freitag|viernes|vendredi saturday|samstag|sonnabend|sábado|samedi
  sunday|sonntag|domingo|dimanche`,
  0,
);
/** 0 is spring. */
export const SEASONS = numbered(
  `spring|frühling|frühjahr|primavera|printemps summer|sommer|verano|été autumn|fall|herbst|otoño|automne
  winter|invierno|hiver`,
  0,
);
/** Counts up to twelve; a few are three. */
export const COUNTS = new Map(
  numbered(
    `a|an|one|ein|eine|einem|einer|einen|un|una|une two|zwei|dos|deux three|few|drei|tres|trois four|vier|cuatro|quatre
  five|fünf|cinco|cinq six|sechs|seis seven|sieben|siete|sept eight|acht|ocho|huit nine|neun|nueve|neuf ten|zehn|diez|dix
  eleven|elf|once|onze twelve|zwölf|doce|douze`,
    1,
  ),
).set('couple of', 2);
const UNIT_NAMES = ['day', 'week', 'fortnight', 'weekend', 'month', 'quarter', 'year', 'decade'] as const;
export type Unit = (typeof UNIT_NAMES)[number];
export const UNITS: ReadonlyMap<string, Unit> = new Map(
  [
    ...numbered(
      `day|days|tag|tage|tagen|día|días|jour|jours week|weeks|woche|wochen|semana|semanas|semaine|semaines
      fortnight|fortnights|quinzaine weekend|weekends|wochenende|week-end|finde month|months|monat|monate|monaten|monats|mes|meses|mois
      quarter|quarters|quartal|trimestre|trimestres year|years|jahr|jahre|jahren|jahres|año|años|an|ans|année|années
      decade|decades|jahrzehnt|década|décennie`,
      0,
    ),
  ].map(([word, at]) => [word, UNIT_NAMES[at] ?? 'day']),
);
/** Days from today. */
export const DAY_WORDS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    today: 0,
    tonight: 0,
    yesterday: -1,
    'last night': -1,
    'the day before yesterday': -2,
    tomorrow: 1,
    'the day after tomorrow': 2,
    heute: 0,
    gestern: -1,
    vorgestern: -2,
    morgen: 1,
    übermorgen: 2,
    hoy: 0,
    ayer: -1,
    anoche: -1,
    anteayer: -2,
    antier: -2,
    mañana: 1,
    'pasado mañana': 2,
    "aujourd'hui": 0,
    'aujourd’hui': 0,
    hier: -1,
    'avant-hier': -2,
    demain: 1,
    'après-demain': 2,
  }),
);
