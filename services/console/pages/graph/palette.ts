/** Structure is grey: the colours belong to what the texts are about. */
const FIXED: ReadonlyMap<string, readonly [light: string, dark: string]> = new Map(
  Object.entries<readonly [light: string, dark: string]>({
    Document: ['#5c6370', '#dfe3ea'],
    Passage: ['#a2a8b4', '#8a909c'],
    Summary: ['#c9cdd6', '#5d636f'],
    'Entity type': ['#000000', '#ffffff'],
  }),
);

/**
 * Types take them in the order of their frequency. Chosen by search: any two, and any of them and a grey, stay apart in
 * OKLab for full colour vision, protanopia, deuteranopia and tritanopia, and each has a contrast of 3 with its ground.
 */
export const FREE: readonly (readonly [light: string, dark: string])[] = [
  ['#0293fb', '#3757fd'],
  ['#fc230a', '#e97319'],
  ['#37904e', '#8bfe76'],
  ['#bd60b5', '#f677fa'],
  ['#1e04bc', '#05d0ae'],
  ['#5a1113', '#d1bc48'],
  ['#6b227b', '#bc26b9'],
  ['#a61d04', '#cd152d'],
];

export function paletteFor(groups: readonly string[], dark: boolean): ReadonlyMap<string, string> {
  const shade = dark ? 1 : 0;
  const free = FREE.values();
  return new Map(
    groups.map((group) => [group, (FIXED.get(group) ?? free.next().value ?? ['#888888', '#888888'])[shade] as string]),
  );
}
