const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    'text/html': 'html',
    'application/xhtml+xml': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
    'text/csv': 'csv',
    'application/json': 'json',
    'application/xml': 'xml',
    'text/xml': 'xml',
    'application/pdf': 'pdf',
    'application/epub+zip': 'epub',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    'application/vnd.oasis.opendocument.text': 'odt',
  }),
);

/** Returns the bare media type in lower case; bytes without one. */
export function mimeTypeOf(contentType: string | undefined): string {
  const bare = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(bare) ? bare : 'application/octet-stream';
}

/**
 * The name the server gives (`Content-Disposition`), else the last segment of the path, else the host. Folders and control characters
 * go, an extension is added where the type has one and the name has none; at most 200 characters.
 */
export function fileNameOf(
  url: URL,
  { disposition, mimeType }: { readonly disposition: string | undefined; readonly mimeType: string },
): string {
  const segment = decode(url.pathname.split('/').findLast((part) => part !== '') ?? '');
  const base =
    cleanName(dispositionName(disposition) ?? '') || cleanName(segment) || url.hostname.replaceAll(/[[\]:]/g, '_');
  const extension = EXTENSIONS.get(mimeType);
  // A page named `index.php` or `report.2024` is still a page: the type decides when the name says nothing that is known.
  const hasExtension =
    /\.[a-z0-9]{1,8}$/i.test(base) && base !== url.hostname && !(extension === 'html' && !/\.x?html?$/i.test(base));
  return extension === undefined || hasExtension ? base : `${base.slice(0, 190)}.${extension}`;
}

function dispositionName(disposition: string | undefined): string | null {
  if (disposition === undefined) return null;
  const extended = /filename\*\s*=\s*[\w-]*'[^']*'([^;]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) return decode(extended.trim());
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  const name = plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2];
  // Header bytes arrive as latin1; most servers that send more than ASCII mean UTF-8.
  return name === undefined ? null : Buffer.from(name, 'latin1').toString('utf8');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function cleanName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  const clean = [...last]
    .filter((character) => character >= ' ' && character !== '\u007f')
    .join('')
    .trim()
    .slice(0, 200);
  return clean === '.' || clean === '../../storage' ? '' : clean.toWellFormed();
}
