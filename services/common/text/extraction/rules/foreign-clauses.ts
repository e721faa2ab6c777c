import { FOREIGN_KIN } from '../../language/kin-words.ts';
import type { Argument } from './clause-levels.ts';
import { GOVERNED } from './foreign.ts';
import type { FoundRelation } from './relations.ts';

/** A predicate of German, Spanish or French with the relation to the first fitting name behind it. */
interface Predicate {
  readonly relation: string;
  /** In the third person, or as a participle behind its subject. */
  readonly third: RegExp;
  /** In the first person. */
  readonly own: RegExp;
  /** What stands in front of the name. */
  readonly preposition: RegExp;
  readonly target: RegExp;
}

const WHERE = /(?<!\p{L})(?:in|im|en|à|au|aux|dans)(?: (?:der|el|la))? $/u;
const PLACE = /^(?:Place|Concept)$/u;
const PREDICATES: readonly Predicate[] = [
  {
    relation: 'live_in',
    third:
      /(?<!\p{L})(?:wohnt|wohnte|lebt|lebte|vive|vivía|vivió|reside|residente|habite|habitait|vit|demeurant|demeure|domiciliad[oa]|domiciliée?|wohnhaft)(?!\p{L})/iu,
    own: /(?<!\p{L})(?:wohne|lebe|wohnen wir|vivo|vivimos|[Jj]['’]habite|je vis|nous habitons|nous vivons)(?!\p{L})/u,
    preposition: WHERE,
    target: PLACE,
  },
  {
    relation: 'work_at',
    third: /(?<!\p{L})(?:arbeitet|arbeitete|trabaja|trabajaba|trabajó|travaille|travaillait|a travaillé)(?!\p{L})/iu,
    own: /(?<!\p{L})(?:arbeite|trabajo|je travaille)(?!\p{L})/u,
    preposition:
      /(?<!\p{L})(?:bei|beim|bei der|für|im|in der|an der|en|en el|en la|para|chez|pour|au|à l['’]|à la|à l['’]hôpital|à)(?: (?:Restaurant|Hotel|Café|Krankenhaus|Klinikum|hôpital|hotel|restaurante|restaurant))? $|['’]$/iu,
    target: /^(?:Organisation|Concept|Product)$/u,
  },
  {
    relation: 'born_in',
    third:
      /(?<!\p{L})(?:geboren(?= (?:am|in) )|wurde(?= (?:am \d|in \p{Lu}|\d{4} in )[^,;]{2,40}geboren)|nació|nacid[oa]|née?|est née?)(?!\p{L})/iu,
    own: /(?<!\p{L})(?:bin(?= [^,;]{2,40}geboren)|nací|je suis née?)(?!\p{L})/u,
    preposition: WHERE,
    target: PLACE,
  },
  {
    relation: 'study_at',
    third: /(?<!\p{L})(?:studiert|studierte|estudia|estudió|étudie|a étudié)(?!\p{L})/iu,
    own: /(?<!\p{L})(?:studiere|estudio|j['’]étudie)(?!\p{L})/iu,
    preposition: /(?<!\p{L})(?:an der|en la|en el|à la|à l['’]) ?$/u,
    target: /^(?:Organisation|Concept)$/u,
  },
];
const DENIED = /(?<!\p{L})(?:nicht|kein\p{L}*|nie|nunca|jamás|pas|jamais|würde|möchte|podría|pourrait|no)(?!\p{L})|\?/u;
/** Where what is said of the subject ends. */
const END_OF_CLAUSE = /[;!?:]|, (?:die|der|das|weil|que|qui|pero|aber|mais|cuando|wenn)(?!\p{L})/u;
const KIN_BEFORE = new RegExp(
  `(?<!\\p{L})(?:seine?[mnr]?|ihre?[mnr]?|su|sa|son) (${[...FOREIGN_KIN.keys()].join('|')}),? $`,
  'iu',
);
/** Of a sentence whose subject is that of the one before, as Spanish leaves it out. */
const WITHOUT_SUBJECT = /^(?:Vive|Vivía|Vivió|Trabaja|Trabajaba|Trabajó|Nació|Estudia|Estudió|Reside)(?!\p{L})/u;

/** Whether a sentence leaves out its subject. */
export function leavesOutSubject(text: string): boolean {
  return WITHOUT_SUBJECT.test(text);
}

/**
 * Reads what a German, Spanish or French sentence says of its subject, or of who writes it, wherever in the clause the name
 * stands: `demeurant 8 rue des Tanneurs à Annecy`, `Ich wohne mit meinem Mann in Ulm`. `subject`: of a sentence without one.
 */
export function foreignClauses(
  text: string,
  parts: readonly Argument[],
  { speaker, subject }: { readonly speaker: string | null; readonly subject: string | null },
): FoundRelation[] {
  if (DENIED.test(text)) return [];
  const found: FoundRelation[] = [];
  const state = (source: string | null, relation: string, target: string): void => {
    if (source !== null && source !== target) found.push({ source, relation, target });
  };
  // `con Inês, que nació en Braga`: a relative clause is about the name in front of it.
  const actor = (at: number): string | null => {
    // `Madame A, demeurant à Annecy, et Monsieur B, né à Grenoble`
    const described = parts.findLast(({ end, type }) => type === 'Person' && /^, $/u.test(text.slice(end, at)));
    if (described !== undefined) return described.name;
    const acting = parts.find(
      ({ start, end, type }) =>
        end <= at &&
        type === 'Person' &&
        (!GOVERNED.test(text.slice(0, start)) || /^, (?:que|quien|qui|der|die) $/u.test(text.slice(end, at))),
    );
    return acting?.name ?? subject;
  };
  for (const predicate of PREDICATES) {
    const own = predicate.own.exec(text);
    const verb = own ?? predicate.third.exec(text);
    if (verb === null) continue;
    const source = own !== null ? speaker : actor(verb.index);
    const start = verb.index + verb[0].length;
    const length = text.slice(start).search(END_OF_CLAUSE);
    const end = length === -1 ? text.length : start + length;
    const behind = parts.filter((part) => part.start >= start && part.end <= end);
    const object = behind.find(
      (part) => predicate.target.test(part.type) && predicate.preposition.test(text.slice(start - 1, part.start)),
    );
    if (object !== undefined) state(source, predicate.relation, object.name);
    const day = predicate.relation === 'born_in' ? behind.find(({ type }) => type === 'Date') : undefined;
    if (day !== undefined) state(source, 'born_on', day.name);
  }
  for (const part of parts) {
    const kin = KIN_BEFORE.exec(text.slice(Math.max(0, part.start - 40), part.start))?.[1]?.toLowerCase();
    if (kin !== undefined && part.type !== 'Date') state(actor(part.start), FOREIGN_KIN.get(kin) ?? '', part.name);
  }
  return found;
}
