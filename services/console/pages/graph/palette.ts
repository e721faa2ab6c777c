const FIXED: ReadonlyMap<string, readonly [light: string, dark: string]> = new Map(
  Object.entries<readonly [light: string, dark: string]>({
    Document: ['#7a3fd1', '#b794f6'],
    Passage: ['#2f9e6e', '#5fd3a3'],
    Summary: ['#c77700', '#ffb454'],
    'Entity type': ['#8b8fa3', '#a9aec4'],
    'Node set': ['#64748b', '#94a3b8'],
  }),
);

/** Spread far apart, readable on both grounds; entity types take them in the order of their frequency. */
const FREE: readonly (readonly [light: string, dark: string])[] = [
  ['#1f6feb', '#6ea8ff'],
  ['#d1335b', '#ff7a9a'],
  ['#0b8f9c', '#4fd6e2'],
  ['#a0741a', '#e3c063'],
  ['#5b4bd6', '#9d91ff'],
  ['#3d8b1f', '#8fdc6c'],
  ['#b0459f', '#f08be0'],
  ['#c2571a', '#ff9d66'],
  ['#39708f', '#86c2e0'],
  ['#7d6b5d', '#c9b6a6'],
];

/** Of all rarer types: no colour stands for two of the frequent ones. */
const REST = '#888888';

export function paletteFor(groups: readonly string[], dark: boolean): ReadonlyMap<string, string> {
  const shade = dark ? 1 : 0;
  let next = 0;
  return new Map(
    groups.map((group) => {
      const fixed = FIXED.get(group);
      if (fixed !== undefined) return [group, fixed[shade]];
      const free = FREE[next];
      next += 1;
      return [group, free?.[shade] ?? REST];
    }),
  );
}
