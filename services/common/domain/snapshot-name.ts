interface Named {
  readonly name: string;
  readonly id: string;
}

/** Name of a dataset's snapshot at a time, deterministic: `<dataset>-<start of its id>-<year month day>-<hour minute>`. */
export function snapshotName({ name, id }: Named, at: Date): string {
  return `${readable(name, 70)}-${id.slice(0, 8)}-${minuteOf(at)}`;
}

/** Name of the final snapshot of an erased dataset, with the whole id, because a tenant's datasets may be erased together. */
export function finalSnapshotName({ name, id }: Named, at: Date): string {
  return `${readable(name, 60)}-${id}-${minuteOf(at)}-final`;
}

/** Without a dot, which those that users take have behind the id of their dataset: none of these is one of those. */
function readable(name: string, length: number): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[_-]+|[_-]+$/g, '')
    .slice(0, length);
  return text === '' ? 'dataset' : text;
}

function minuteOf(at: Date): string {
  return at.toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-');
}
