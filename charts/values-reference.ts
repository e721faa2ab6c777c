import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { replaceBetween } from '../services/common/kernel/generated-files.ts';

const MARKS = ['<!-- values: generated -->', '<!-- /values -->'] as const;

interface Value {
  readonly path: string;
  readonly default: string;
  readonly meaning: string;
}

/**
 * The README with its table of values replaced. A value's meaning is the comment above it that begins with `--`; a map
 * with such a comment is one value, one without is the sum of its own. Throws for a value without meaning.
 */
export function replaceValues(readme: string, valuesYaml: string): string {
  return replaceBetween(readme, MARKS, table(valuesOf(valuesYaml)));
}

/** All values of values.yaml with their comments, in order. */
export function valuesOf(valuesYaml: string): readonly Value[] {
  const { contents } = parseDocument(valuesYaml);
  if (!isMap(contents)) throw new Error('values.yaml is no map');
  return valuesIn(contents as YAMLMap, [], contents.commentBefore ?? '');
}

function valuesIn(map: YAMLMap, parents: readonly string[], before: string): readonly Value[] {
  return map.items.flatMap((item, index) => {
    const { key, value } = item as Pair;
    if (!isScalar(key)) throw new Error(`values.yaml has a key that is no word under ${parents.join('.')}`);
    const path = [...parents, String(key.value)];
    // The parser gives the comment above the first key of a map to the map.
    const meaning = meaningOf(`${index === 0 ? before : ''}\n${key.commentBefore ?? ''}`);
    if (isMap(value) && value.items.length > 0 && meaning === null) {
      return valuesIn(value as YAMLMap, path, value.commentBefore ?? '');
    }
    if (meaning === null) throw new Error(`values.yaml does not say what ${path.join('.')} is for`);
    return [{ path: path.join('.'), default: defaultText(value), meaning }];
  });
}

/** Returns the text from the last line that begins with `--`. */
function meaningOf(comment: string): string | null {
  const lines = comment.split('\n').map((line) => line.trim());
  const start = lines.findLastIndex((line) => line.startsWith('-- '));
  return start < 0 ? null : lines.slice(start).join(' ').slice(3).trim();
}

const LONGEST_DEFAULT = 80;

function defaultText(value: unknown): string {
  const plain: unknown = (value as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null;
  const text = JSON.stringify(plain);
  return text.length > LONGEST_DEFAULT ? 'see `values.yaml`' : `\`${text}\``;
}

function table(values: readonly Value[]): string {
  const rows = values.map(
    ({ path, default: text, meaning }) => `| \`${path}\` | ${text} | ${meaning.replaceAll('|', '\\|')} |`,
  );
  return ['| value | default | meaning |', '|---|---|---|', ...rows].join('\n');
}
