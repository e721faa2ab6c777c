const NAME_LENGTH = 70;

/** Of a dataset at a time, the same for the same: `<dataset>-<start of its id>-<year month day>-<hour minute>[-final]`. */
export function snapshotName(dataset: { readonly name: string; readonly id: string }, at: Date, suffix = ''): string {
  const readable = dataset.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
    .slice(0, NAME_LENGTH);
  const time = at.toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${readable === '' ? 'dataset' : readable}-${dataset.id.slice(0, 8)}-${time}${suffix}`;
}
