/** Exposed metrics: metric → label → values. A histogram counts as its three series. */
export type Exposition = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Reads the text of `/metrics`, of several processes together. A metric without samples is known by its type. */
export function readExposition(...texts: readonly string[]): Exposition {
  const metrics = new Map<string, Map<string, Set<string>>>();
  const metric = (name: string) => {
    const labels = metrics.get(name) ?? new Map<string, Set<string>>();
    metrics.set(name, labels);
    return labels;
  };
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const declared = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (declared !== null && declared[2] !== 'histogram') metric(declared[1] ?? '');
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line);
    if (sample === null) continue;
    const labels = metric(sample[1] ?? '');
    for (const [, label = '', value = ''] of (sample[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
  return metrics;
}
