import { readFileSync } from 'node:fs';

/** A capital is a city, a continent or an island of its own is `other`. */
type PlaceLevel = 'country' | 'region' | 'city' | 'other';

interface Place {
  readonly level: PlaceLevel;
  /** Rows of the places that it is part of. */
  readonly wider: readonly number[];
}

/** Three thousand places of the world, in English and, if large, in German, Spanish and French. */
interface PlaceTable {
  /** Levels of the places with this name, in lower case; empty: unknown. */
  levels(name: string): readonly PlaceLevel[];
  /** Whether one name can be that of a place which lies in a place of the other name: `Chicago`, `United States`. */
  liesIn(name: string, other: string): boolean;
  /** Whether two names can be those of one place: `Seville`, `Sevilla`. */
  areSame(name: string, other: string): boolean;
}

const CLASSES: ReadonlySet<string> = new Set(['country', 'region', 'city', 'other'] satisfies PlaceLevel[]);
/** `make-places.ts` writes it: level, names, rows of wider places. */
const SOURCE = new URL('places.txt', import.meta.url);

let shared: PlaceTable | undefined;

/** Read with the first question. */
export function placeTable(): PlaceTable {
  shared ??= readPlaces(readFileSync(SOURCE, 'utf8'));
  return shared;
}

function readPlaces(text: string): PlaceTable {
  const places: Place[] = [];
  const rowsByName = new Map<string, number[]>();
  for (const line of text.trimEnd().split('\n')) {
    const [level = '', names = '', wider = ''] = line.split('\t');
    if (!CLASSES.has(level)) throw new Error(`places.txt has an unknown level '${level}'.`);
    for (const name of names.toLowerCase().split(';')) {
      const rows = rowsByName.get(name);
      if (rows === undefined) rowsByName.set(name, [places.length]);
      else rows.push(places.length);
    }
    places.push({ level: level as PlaceLevel, wider: wider === '' ? [] : wider.split(' ').map(Number) });
  }
  const rowsOf = (name: string): readonly number[] => rowsByName.get(name.toLowerCase()) ?? [];
  const isWithin = (row: number, wanted: readonly number[]): boolean =>
    (places[row]?.wider ?? []).some((wider) => wanted.includes(wider) || isWithin(wider, wanted));
  return {
    levels: (name) => rowsOf(name).flatMap((row) => places[row]?.level ?? []),
    liesIn(name, other) {
      const wanted = rowsOf(other);
      return wanted.length > 0 && rowsOf(name).some((row) => isWithin(row, wanted));
    },
    areSame(name, other) {
      const rows = rowsOf(other);
      return rowsOf(name).some((row) => rows.includes(row));
    },
  };
}
