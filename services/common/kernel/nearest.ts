import { distance } from 'fastest-levenshtein';

/** The one of `known` that a mistyped word means, null when none is near: a third of its letters may differ, or two. */
export function nearestOf(word: string, known: readonly string[]): string | null {
  const given = word.toLowerCase();
  const [nearest] = known
    .map((candidate) => {
      const wanted = candidate.toLowerCase();
      const isStart = given.length >= 3 && wanted.startsWith(given);
      return { candidate, edits: isStart ? 1 : distance(given, wanted), length: wanted.length };
    })
    .filter(({ edits, length }) => edits <= allowed(Math.min(given.length, length)))
    .sort((a, b) => a.edits - b.edits);
  return nearest?.candidate ?? null;
}

function allowed(length: number): number {
  return length < 4 ? 1 : Math.max(2, length / 3);
}
