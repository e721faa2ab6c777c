import type { AnswerType } from './question.ts';

/** An event or a state that a question asks about. */
interface EventWords {
  readonly asked: RegExp;
  /** What tells of it; generous, so that a sentence without any of it tells something else, whatever words it shares. */
  readonly said: RegExp;
  /** Types of the questions that ask about it. */
  readonly types: readonly AnswerType[];
  /** Whether the best sentence must tell of it; else one of those that are read. */
  readonly isOfBest: boolean;
}

const TYPES: readonly AnswerType[] = ['date', 'person', 'place'];

/** `said`: beginnings of words. */
const words = (asked: string, said: string, { types = TYPES, isOfBest = false } = {}): EventWords => ({
  asked: new RegExp(`\\b(?:${asked})\\b`, 'iu'),
  said: new RegExp(`\\b(?:${said})`, 'iu'),
  types,
  isOfBest,
});

const BEST = { isOfBest: true } as const;
const THINGS = { types: ['place', 'thing'] } as const satisfies { readonly types: readonly AnswerType[] };

/** Events and states with the words for them, the first that a question has counts. */
export const EVENTS: readonly EventWords[] = [
  words(
    '(?:get|got|gets|getting) married|marry|marries|married|wedding(?: anniversary)?',
    'marri|marry|wed|husband|wife|bride|groom|spouse|vow|honeymoon|engag',
  ),
  words(
    '(?:was|were|is|are) .*\\bborn',
    'born|birth|native|gr[eo]w|raised|came|comes?\\b|from|child|hometown|origin|aged?\\b|years? old|\\d{4}|young|old|baby|arriv',
  ),
  words('divorced?', 'divorc|separat|split|ex-|left|broke'),
  words(
    'expires?|runs? out|expired',
    'expir|valid|until|till|end|run|ran|renew|due|good for|last|since|from|by|term|\\d+ (?:day|week|month|year)s',
  ),
  words('retires?|retired', 'retir|pension|stop|left|leav|leaves|last day|gave up|quit|hand|emerit|end'),
  words(
    'moved?|moves',
    'mov|live|living|since|settl|c[ao]me|new|relocat|left|leav|went|go(?:es|ing)?\\b|chang|home|flat|house|apartment|shift|transfer|postpon|emigrat|put|carr|arriv|return',
  ),
  words(
    'buy|buys|bought|purchase[ds]?',
    'b[uo]y|bought|purchas|pa[iy]|cost|price|from|got|get|acquir|since|new|order|own|ha[sd]\\b|have|second-?hand|used|deal|spen[dt]|sold|[$€£]|\\d+ (?:euros?|pounds?|dollars?)|came|replac|choos|chose',
  ),
  words('sell|sells|sold', 'sell|sold|sale|buy|bought|took|went to|gave|given|price|custom|shop|market|auction|order'),
  words(
    '(?:was|were|been) (?:built|constructed|erected)',
    'buil[dt]|construct|erect|finish|complet|dates?\\b|dating|from|since|old|made|years?|put up|went up|architect|rebuil|creat|cent|open|stand|until',
  ),
  words(
    'founded|established',
    'found|establish|start|creat|beg[aiu]n|since|set up|open|born|from|exist|old|years|form|launch|first|made|built|grew',
  ),
  words(
    'graduated?|graduates',
    'graduat|degree|diploma|stud|bachelor|master|doctor|school|universit|finish|class of|exam|complet|thesis',
  ),
  words('adopt(?:ed|s)?', 'adopt|shelter|rescue|got|came|took|since|brought|found|from|join'),
  words(
    '(?:who|which (?:team|side|country|player|club)) (?:has |had )?(?:won|wins|beat)|winner',
    'w[io]n|beat|defeat|victor|champion|triumph|first|lost|lose|loss|prize|award|medal|trophy|cup went|elected|gold|title|top|best|ahead|\\d ?[:–-] ?\\d',
  ),
  words('elected|elects?', 'elect|vot|chos|chair|president|mayor|won|became|appoint|office|take|took|since|new'),
  words(
    'hired?|hires|employed',
    'hire|hiring|employ|join|start|since|began|recruit|work|new|came|engag|took on|contract',
  ),
  words('fired|dismissed|laid off', 'fire|dismiss|laid|sack|let go|lost|left|redundan|cut|quit'),
  words('stolen|stole|steals?', 'st[oe]l|thie[fv]|theft|rob|burgl|taken|took|missing|broke|disappear|gone'),
  words('phone|call(?:ed)? (?:me|us)', 'phone|call|rang|ring|tel|number|voice|messag|text|spoke|talk'),
  words('arrested', 'arrest|police|custody|jail|prison|caught|detain'),
  words('rented?|rents', 'rent|lease|let|land|tenant|month|hire|pay|paid|flat|room'),
  words('painted|paints?', 'paint|colou?r|brush|artist|varnish|picture|portrait|mural|white|whitewash|coat'),
  words('insured?|insures', 'insur|polic|cover|premium|liabil|broker|claim'),
  words('who (?:has |had )?(?:co-)?produce[ds]?', 'produc|made|mak|creat|record|grow|grew|brew|print|supervis'),
  words(
    'who (?:has |had )?(?:co-)?design(?:s|ed)?',
    'design|architect|plan|draw|drew|sketch|built|build|creat|ma[dk]e|conceiv|layout|style|devis|develop|engineer',
  ),
  words(
    'who (?:has |had )?(?:co-)?compose[ds]?',
    'compos|music|score|soundtrack|song|tune|opera|symphon|sonata|quartet|piece|anthem|lyric|poem',
  ),
  words('weighs?|weighed', 'weigh|kg|kilo|gram|pound|ton|\\d ?g\\b|heav|light|ounce|stone'),
  words(
    'stud(?:y|ies|ied)',
    'stud|universit|college|school|degree|course|graduat|major|read\\b|learn|train(?:ed|ing|ee)|apprentic|class|professor|lectur|academ|diploma|bachelor|master|doctor|phd|faculty|campus|enrol|attend|educat|research|exam|institut|semin|semester|thesis|program|subject|taught|teach',
    { types: ['date', 'person', 'place', 'thing'], isOfBest: true },
  ),
  words(
    '(?:do|does|did) .+ live|lives|lived',
    'liv|home|house|flat|apartment|cottage|mov|resid|address|stay|settl|lodg|rent|from\\b|born|belong|based|gr[eo]w|neighbo|village|town|next door|street|road|avenue|room|c[ao]me|native|emigrat|left|dwell|inhabit|camp|farm|sp[eo]n[dt]',
    { types: ['place'], isOfBest: true },
  ),
  words(
    'allergic|allerg(?:y|ies)',
    'allerg|intoleran|react|hay fever|pollen|rash|sneez|avoid|hives|epipen|adrenaline',
    { types: ['date', 'person', 'thing'] },
  ),
  words(
    'afraid|scared|phobia',
    'afraid|scar|fear|fright|phobi|terrif|panic|nervous|worr|dread|anxi|hid[ei]?|runs? away',
    { types: ['person', 'thing'] },
  ),
  words(
    'repair(?:s|ed)?|fix(?:es|ed)?|mend(?:s|ed)?',
    'repair|fix|mend|weld|replac|restor|rebuil|renew|mechanic|work(?:s|ed|ing)? again|overhaul|patch|plumb|electric|serviced?|solder|glue|sew|refurb|renovat|garage|workshop|help|solv|d[io]d\\b|c[ao]me|put|new',
  ),
  words(
    'install(?:s|ed)?',
    'install|fit|put|mount|set up|connect|buil|electrician|plumber|firm|compan|laid|lay|added|technician|engineer|work|d[io]d\\b|c[ao]me|deploy',
  ),
  words(
    'cleans?|cleaned',
    'clean|swe[ep]|wash|tid[iy]|dust|mop|hoover|vacuum|scrub|polish|janitor|maid|housekeep|chore',
  ),
  words('conducts?|conducted', 'conduct|direct|lead|led\\b|baton|head|run|interview|perform|carried'),
  words(
    '(?:who|when|where) (?:\\p{L}+ ){0,2}plant(?:s|ed)?',
    'plant|s[eo]w|garden|gr[eo]w|nursery|put|seed|dug|bed\\b',
  ),
  words(
    '(?:do|did|does|have|has|had) .+ (?:lose|lost)',
    'los[et]|missing|gone|disappear|left|forgot|mislaid|st[oe]l|f[ea]ll|drop|behind|without|defeat|beat|died|fail|cost',
  ),
  words(
    'accompan(?:y|ies|ied)|(?:came|went|go|come|goes) with',
    'accompan|with\\b|together|join|c[ao]me|along|escort|took|and (?:I|me)\\b|we\\b|both|companion|chaperon|went',
  ),
  words(
    '(?:who|which \\p{L}+) (?:\\p{L}+ )?(?:leads?|led)',
    'lead|led\\b|head|chair|r[ua]n|manag|direct|captain|boss|command|in charge|moderat|conduct|responsib|organi[sz]|chief|president|found|coordinat|facilitat|ceo|govern|rul',
  ),
  words(
    'who (?:\\p{L}+ )?(?:bakes?d?|cook(?:s|ed)?)',
    'bak|cook|ma[dk]e|prepar|brought|recipe|kitchen|chef|oven|roast|grill|by\\b|from',
    BEST,
  ),
  words(
    '(?:break|broke|broken) .*\\b(?:arm|leg|wrist|ankle|foot|hand|finger|toe|nose|rib|hip|collarbone|shoulder|elbow|knee)s?',
    'br[eo]k|fractur|snap|crack|plaster|cast\\b|f[ea]ll',
  ),
  words(
    '(?:did|do|does|was|were) .+ (?:grow up|raised|childhood)',
    'gr[eo]w|raised|child|born|youth|kid|school|home ?town|young|family|parents|from|boy|girl|spent',
  ),
  words(
    'earns?|earned|salary|wages?',
    'earn|salar|work|job|pa[iy]|wage|income|gross|net\\b|an? (?:year|month|hour)|per\\b|bonus|rais|offer|contract',
    { types: ['date', 'number', 'person', 'thing'], isOfBest: true },
  ),
  words(
    '(?:what|which) (?:is|was) .*\\b(?<!(?:e-?mail|web) )address',
    'address|street|road|avenue|lane|square|close\\b|drive\\b|postcode|liv|mov|house|flat|located|stands?\\b|situated|corner|\\d',
    THINGS,
  ),
  words(
    '(?:what|which) .*\\b(?:shoe|dress|clothes|collar|ring|trouser|jacket) size|(?:what|which) size',
    'size|small|medium|large|\\d|XL',
    THINGS,
  ),
  words(
    '(?:what|which) (?:is|was|were) .*\\b(?:domain|URL)',
    'domain|url|http|www|\\p{L}+\\.(?:com|org|net|io|dev|app|eu|de|example)\\b',
    THINGS,
  ),
  words(
    '(?:what|which) .*\\b(?:rating|grades?|marks?|score)\\b',
    'rat(?:ed|ing)|elo\\b|scor|stars?\\b|points?|grade|marks?\\b|distinction|passed|failed|percent|an? [A-F][+-]?\\b|\\d',
    THINGS,
  ),
  words('blood (?:type|group)', 'blood|rhesus|type (?:[ABO]|zero)', THINGS),
  words('favou?rite', 'favou?rite|lov|lik|best|prefer|enjoy|fond|fan|most|ador|passion|always|addict', {
    types: ['person', 'place', 'thing'],
    isOfBest: true,
  }),
  // Times of business, which `open` and `close` at the end of a question ask for.
  {
    asked: /\b(?:opens?|closes?)(?: on \p{Lu}\p{Ll}+days?| at weekends| today| again)?\s*\??$/iu,
    said: /\b(?:open|clos|shut|hours|until|till|from|business|between|\d\d?(?::\d\d)? ?(?:to|-|–)|every|daily|season)/iu,
    types: ['date'],
    isOfBest: true,
  },
];
