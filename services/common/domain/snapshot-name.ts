interface Named {
  readonly name: string;
  readonly id: string;
}

/** Of a dataset at a time, the same for the same: `<dataset>-<start of its id>-<year month day>-<hour minute>`. */
export function snapshotName({ name, id }: Named, at: Date): string {
  return `${readable(name, 70)}-${id.slice(0, 8)}-${minuteOf(at)}`;
}

/** Of the last one of a dataset that is erased, with the whole id: all datasets of a tenant may have it at one time. */
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
