import { languageOfExtension } from './code-languages.ts';

export interface FormatDescription {
  /** The value of `ParsedDocument.format`. */
  readonly format: string;
  readonly mimeType: string;
  /** Without the dot. */
  readonly extension: string;
}

/** Formats whose bytes are text; the extension decides among them, because content cannot. */
const TEXT_FORMATS: Readonly<Record<string, { readonly format: string; readonly mimeType: string }>> = {
  txt: { format: 'text', mimeType: 'text/plain' },
  text: { format: 'text', mimeType: 'text/plain' },
  md: { format: 'markdown', mimeType: 'text/markdown' },
  markdown: { format: 'markdown', mimeType: 'text/markdown' },
  mdx: { format: 'markdown', mimeType: 'text/markdown' },
  html: { format: 'html', mimeType: 'text/html' },
  htm: { format: 'html', mimeType: 'text/html' },
  xhtml: { format: 'html', mimeType: 'application/xhtml+xml' },
  csv: { format: 'csv', mimeType: 'text/csv' },
  tsv: { format: 'csv', mimeType: 'text/tab-separated-values' },
  json: { format: 'json', mimeType: 'application/json' },
  geojson: { format: 'json', mimeType: 'application/geo+json' },
  jsonl: { format: 'jsonl', mimeType: 'application/jsonl' },
  ndjson: { format: 'jsonl', mimeType: 'application/x-ndjson' },
  ipynb: { format: 'notebook', mimeType: 'application/x-ipynb+json' },
  xml: { format: 'xml', mimeType: 'application/xml' },
  rss: { format: 'xml', mimeType: 'application/rss+xml' },
  atom: { format: 'xml', mimeType: 'application/atom+xml' },
  svg: { format: 'xml', mimeType: 'image/svg+xml' },
  yaml: { format: 'yaml', mimeType: 'application/yaml' },
  yml: { format: 'yaml', mimeType: 'application/yaml' },
  toml: { format: 'yaml', mimeType: 'application/toml' },
  ini: { format: 'yaml', mimeType: 'text/plain' },
  log: { format: 'log', mimeType: 'text/plain' },
  ics: { format: 'calendar', mimeType: 'text/calendar' },
  vcf: { format: 'calendar', mimeType: 'text/vcard' },
  eml: { format: 'email', mimeType: 'message/rfc822' },
  rtf: { format: 'rtf', mimeType: 'application/rtf' },
  rst: { format: 'text', mimeType: 'text/x-rst' },
  tex: { format: 'text', mimeType: 'application/x-tex' },
};

/** Formats recognised by their bytes. */
export const BINARY_FORMATS: Readonly<Record<string, FormatDescription>> = {
  pdf: { format: 'pdf', mimeType: 'application/pdf', extension: 'pdf' },
  docx: {
    format: 'docx',
    mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    extension: 'docx',
  },
  xlsx: {
    format: 'xlsx',
    mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    extension: 'xlsx',
  },
  pptx: {
    format: 'pptx',
    mimeType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    extension: 'pptx',
  },
  odt: { format: 'odt', mimeType: 'application/vnd.oasis.opendocument.text', extension: 'odt' },
  ods: { format: 'ods', mimeType: 'application/vnd.oasis.opendocument.spreadsheet', extension: 'ods' },
  odp: { format: 'odp', mimeType: 'application/vnd.oasis.opendocument.presentation', extension: 'odp' },
  epub: { format: 'epub', mimeType: 'application/epub+zip', extension: 'epub' },
};

const BY_MIME_TYPE: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'xhtml',
  'text/markdown': 'md',
  'text/x-markdown': 'md',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/calendar': 'ics',
  'text/vcard': 'vcf',
  'application/json': 'json',
  'application/ld+json': 'json',
  'application/jsonl': 'jsonl',
  'application/x-ndjson': 'jsonl',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/rss+xml': 'rss',
  'application/atom+xml': 'atom',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'message/rfc822': 'eml',
  'application/rtf': 'rtf',
  'text/rtf': 'rtf',
  'text/css': 'css',
  'text/javascript': 'js',
  'application/javascript': 'js',
  'text/x-python': 'py',
};

export const PLAIN_TEXT: FormatDescription = { format: 'text', mimeType: 'text/plain', extension: 'txt' };

export function textFormatOfExtension(extension: string): FormatDescription | null {
  const known = Object.hasOwn(TEXT_FORMATS, extension) ? TEXT_FORMATS[extension] : undefined;
  if (known !== undefined) return { ...known, extension };
  const code = languageOfExtension(extension);
  return code === null ? null : { format: 'code', mimeType: `text/x-${code.language}`, extension };
}

/** `text/html; charset=utf-8` → the format of `html`. */
export function textFormatOfMimeType(mimeType: string | undefined): FormatDescription | null {
  const bare = mimeType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const extension = Object.hasOwn(BY_MIME_TYPE, bare) ? BY_MIME_TYPE[bare] : undefined;
  return extension === undefined ? null : textFormatOfExtension(extension);
}

/** Lower case, without the dot; the whole name for `Dockerfile` and `Makefile`; empty when there is none. */
export function extensionOf(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1)?.toLowerCase() ?? '';
  if (base === 'dockerfile' || base === 'makefile') return base;
  const dot = base.lastIndexOf('.');
  return dot > 0 ? base.slice(dot + 1) : '';
}

export function charsetOf(mimeType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:+-]{1,40})"?/i.exec(mimeType ?? '')?.[1]?.toLowerCase();
}
