import type { Argument } from './clause-levels.ts';
import type { FoundRelation } from './relations.ts';

/** Relatives and animals that a sentence counts and then names: `has two kids, Timo and Elsa`. */
const COUNTED =
  /\b(?:has|have|had|adopted|got) (?:(?:an?|one|two|three|four|five|six|the|his|her|their|our|my|young|old|older|younger|little|twin|grown-up|adult|lovely|small|big|new) ){0,4}(kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|siblings?|twins|grandchild(?:ren)?|grandsons?|granddaughters?|dogs?|cats?|puppy|puppies|kittens?|horses?|rabbits?|hens?|parrots?|flatmates?|roommates?)(?:,| called| named|:| -| –)? $/u;
/** The same of one's own: `my kids Bea and Leo`. */
const OWN =
  /\b(?:[Mm]y|[Oo]ur) (?:(?:two|three|four|older|younger|little|twin|grown-up|adult) ){0,2}(kids|children|sons|daughters|brothers|sisters|siblings|twins|grandchildren|grandsons|granddaughters|dogs|cats|kittens|horses|rabbits|hens|flatmates|roommates)(?:,| are(?: called| named)?| called| named|:| -| –)? $/u;
const SINGULAR: Readonly<Record<string, string>> = {
  kid: 'child',
  kids: 'child',
  children: 'child',
  twins: 'child',
  grandchildren: 'grandchild',
  puppies: 'puppy',
};

/** Relates whom a clause begins with to the names behind the noun that counts them. `speaker`: who says `I`. */
export function namedMembers(text: string, parts: readonly Argument[], speaker: string | null): FoundRelation[] {
  const countedIn = (before: string) => COUNTED.exec(before) ?? OWN.exec(before);
  const at = parts.findIndex(({ start }) => countedIn(text.slice(Math.max(0, start - MAX_BEFORE), start)) !== null);
  const first = parts[at];
  if (first === undefined || first.type === 'Date') return [];
  const before = text.slice(Math.max(0, first.start - MAX_BEFORE), first.start);
  const counted = countedIn(before);
  const clause = text.slice(0, first.start - before.length + (counted?.index ?? 0));
  const isOwn =
    OWN.test(before) || /\b(?:I|[Ww]e)(?: (?:also|now|still|both))? $|\b(?:I|[Ww]e)['’](?:ve)? ?$/u.test(clause);
  const owner = isOwn
    ? speaker
    : (parts.find(({ end, type }) => end <= clause.length && type === 'Person')?.name ?? null);
  if (owner === null || counted === null) return [];
  const noun = counted[1] ?? '';
  const relation = SINGULAR[noun] ?? noun.replace(/s$/u, '');
  return listFrom(text, parts, at)
    .filter(({ name }) => name !== owner)
    .map(({ name }) => ({ source: owner, relation, target: name }));
}

/** Characters in front of a name that count what it is one of. */
const MAX_BEFORE = 70;

/** Names with nothing but commas and `and` between them, each perhaps with an age: `Timo (6) and Elsa`. */
function listFrom(text: string, parts: readonly Argument[], at: number): Argument[] {
  const found = [parts[at] as Argument];
  for (const next of parts.slice(at + 1)) {
    const between = text.slice(found.at(-1)?.end, next.start);
    if (!/^(?: \(\d{1,3}\))?(?:, and |, | and | & )$/u.test(between) || next.type === 'Date') break;
    found.push(next);
  }
  return found;
}
