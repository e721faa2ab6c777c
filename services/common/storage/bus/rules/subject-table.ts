/** Subscriptions by subject; a subject ending in `.>` matches all below it (one or more further words). */
export function createSubjectTable<T>() {
  const exact = new Map<string, readonly T[]>();
  /** Prefix including its last dot; the empty prefix is `>` alone. */
  const below = new Map<string, readonly T[]>();
  return {
    /** Returns what removes the entry again. */
    add(subject: string, entry: T) {
      const [table, key] = isWildcard(subject) ? [below, subject.slice(0, -1)] : [exact, subject];
      table.set(key, [...(table.get(key) ?? []), entry]);
      return () => {
        const rest = (table.get(key) ?? []).filter((other) => other !== entry);
        if (rest.length === 0) table.delete(key);
        else table.set(key, rest);
      };
    },
    match(subject: string): readonly T[] {
      const found = exact.get(subject) ?? [];
      if (below.size === 0) return found;
      const all = [...found];
      for (const [prefix, entries] of below) {
        if (subject.length > prefix.length && subject.startsWith(prefix)) all.push(...entries);
      }
      return all;
    },
    clear() {
      const all = [...exact.values(), ...below.values()].flat();
      exact.clear();
      below.clear();
      return all;
    },
  };
}

function isWildcard(subject: string): boolean {
  return subject === '>' || subject.endsWith('.>');
}
