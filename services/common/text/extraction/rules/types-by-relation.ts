import type { ExtractedRelation } from '../../../ports/extractor.ts';
import { placeTable } from '../../places/place-table.ts';
import type { Draft } from './draft.ts';
import { type EntityType, isGivenName } from './entity-type.ts';
import { TYPE_NOUNS } from './type-words.ts';

interface Ends {
  readonly relation: RegExp;
  readonly source?: EntityType;
  readonly target?: EntityType;
  /** Types that both ends may have before, where the names alone do not tell. */
  readonly only?: { readonly source?: EntityType; readonly target?: EntityType };
}

/** What a relation says of names of which nothing else is known. */
const ENDS: readonly Ends[] = [
  { relation: /^(?:live_(?:in|on|at|near)|born_in|die_in|died_in|grow_up_in|commute_to)$/u, target: 'Place' },
  {
    relation:
      /^(?:work_(?:at|for)|employed_(?:at|by)|study_at|graduate_from|intern_at|teach_at|employer|provider|insurer|bank)$/u,
    target: 'Organisation',
    only: { source: 'Person' },
  },
  {
    relation:
      /^(?:kid|child|son|daughter|brother|sister|mother|father|wife|husband|partner|aunt|uncle|cousin|niece|nephew|grand(?:child|son|daughter|mother|father)|flatmate|roommate|friend|neighbour|colleague|boss)$/u,
    target: 'Person',
  },
  { relation: /^(?:marry|married_to|divorce|engaged_to)$/u, source: 'Person', target: 'Person' },
  {
    relation: /^(?:written_in|run_on|runs_on|built_(?:with|on)|implemented_in|deployed_(?:with|to))$/u,
    source: 'Product',
    only: { target: 'Product' },
  },
];

/** Types the ends of relations: `lives on Korenlei` makes a place of it, whatever else it is called. */
export function typeByRelations(
  drafts: { get(name: string): Draft | undefined },
  relations: readonly ExtractedRelation[],
): void {
  for (const { source, relation, target } of relations) {
    for (const ends of ENDS) {
      if (!ends.relation.test(relation)) continue;
      const [from, to] = [drafts.get(source), drafts.get(target)];
      if (from === undefined || to === undefined) continue;
      const isOf = (draft: Draft, type: EntityType | undefined): boolean => type === undefined || draft.type === type;
      if (ends.source !== undefined && isOf(to, ends.only?.target)) retype(from, ends.source);
      if (ends.target !== undefined && isOf(from, ends.only?.source)) retype(to, ends.target);
    }
    const noun = OFFICE.exec(relation)?.[1];
    const holder = drafts.get(source);
    if (noun !== undefined && holder !== undefined && TYPE_NOUNS.get(noun) === 'Person') retype(holder, 'Person');
  }
}

/** `architect_at`, of whoever is one; companies are partners and members, too. */
const OFFICE =
  /^(?!(?:member|partner|leader|maker|supplier|neighbour|owner|producer|provider|sponsor|competitor|player|host|client|customer|sister|mother|parent|child)_)(\p{L}+)_(?:at|for|from|with)$/u;

function retype(draft: Draft, type: EntityType): void {
  // `He married Sofia`: a given name that is a town as well.
  const isNamesake = type === 'Person' && draft.type === 'Place' && isGivenName(draft.name.toLowerCase());
  // `works at Sint-Lucas hospital`, where only the preposition spoke for a place.
  const isBody = type === 'Organisation' && draft.type === 'Place' && placeTable().levels(draft.name).length === 0;
  const isOpen =
    (draft.type === 'Concept' || isBody) && draft.form === null && !draft.isPhrase && draft.kind === 'name';
  if (isOpen || isNamesake) Object.assign(draft, { type, certainty: 0.5, isKeyword: false });
}
