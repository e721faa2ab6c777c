import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type EngramError, engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { Fetcher } from '../../common/ports/documents.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { isFileArchive, readFileArchive } from '../../common/text/documents/file-archive.ts';

/** One thing to be ingested, before anything was read from it. */
export type Input =
  | {
      readonly kind: 'upload';
      readonly file: UploadedFile;
      readonly isCopy?: boolean;
      /** Besides those of the request. */
      readonly nodeSets?: readonly string[];
      /** As those of `Source`. */
      readonly itemId?: DataItemId;
      readonly sourceUri?: string;
    }
  /** Text, a URL, or (where allowed) a path of the server. */
  | { readonly kind: 'string'; readonly value: string }
  /** Text that another service wrote, whatever it looks like. */
  | { readonly kind: 'document'; readonly id: DataItemId; readonly fileName: string; readonly text: string };

/** The bytes of an input, hashed, ready to be parsed and stored. */
export interface Source {
  /** Folders removed. */
  readonly fileName: string;
  readonly declaredMimeType?: string;
  readonly sizeBytes: number;
  /** Lower-case hex. The MD5 is what the wire shows, the SHA-256 tells contents apart. */
  readonly md5: string;
  readonly sha256: string;
  readonly sourceUri: string | null;
  /** True for text that came as a string: it is text whatever it looks like. */
  readonly plainText: boolean;
  /** Marks content of another memory: no user states it, and it is kept unchanged. */
  readonly isCopy?: boolean;
  /** Besides those of the request. */
  readonly nodeSets?: readonly string[];
  /** Id of the item made of it; default: a new one. */
  readonly itemId?: DataItemId;
  bytes(): Promise<Uint8Array>;
}

interface SourceOptions {
  readonly fetcher: Fetcher;
  /** Reads a path of the server, or null when local paths are not accepted or this is none. */
  readonly readLocal: ((path: string) => Promise<readonly Source[] | null>) | null;
  readonly maxBytes: number;
  /** Takes the files of an archive for documents of their own. */
  readonly unpacksArchives?: boolean;
}

/** What an input holds. */
interface OpenedInput {
  /** The input itself is the only source. */
  readonly isWhole: boolean;
  readonly sources: readonly Source[];
  /** Files of it that cannot be read, which the others do not wait for. */
  readonly unread: readonly { readonly name: string; readonly error: EngramError }[];
}

const opened = (source: Source): OpenedInput => ({ isWhole: true, sources: [source], unread: [] });

/** Database addresses are refused whole: reading a database on a client's word is not this service's job. */
const DATABASE_SCHEME =
  /^(postgres(ql)?|mysql|mariadb|sqlite|mssql|oracle|mongodb(\+srv)?|redis|duckdb|snowflake|bigquery|clickhouse)(\+\w+)?:\/\//i;

/** A local folder and an archive can give several sources; everything else gives one. */
export async function openInput(input: Input, options: SourceOptions, signal: AbortSignal): Promise<OpenedInput> {
  if (input.kind === 'upload') {
    const { kind: _, file, isCopy = false, nodeSets = [], ...given } = input;
    const isPacked = options.unpacksArchives === true && !isCopy && given.itemId === undefined;
    const unpacked = isPacked && isFileArchive(file.fileName) ? await unpackedFiles(file, nodeSets) : null;
    return unpacked ?? opened({ ...uploadSource(file), isCopy, nodeSets, ...given });
  }
  if (input.kind === 'document') return opened(documentSource(input));
  const value = input.value;
  if (/^https?:\/\/\S+$/i.test(value)) return opened(await urlSource(value, options, signal));
  if (DATABASE_SCHEME.test(value)) {
    throw engramError('InvalidRequestError', 'database connection strings are not accepted as data');
  }
  if (/^s3:\/\/\S+$/i.test(value)) throw engramError('InvalidRequestError', 's3:// addresses are not accepted as data');
  const local = options.readLocal === null ? null : await options.readLocal(value);
  if (local !== null) return { isWhole: false, sources: local, unread: [] };
  if (/^file:\/\//i.test(value)) {
    throw engramError('InvalidRequestError', 'paths of the server are not accepted as data (ACCEPT_LOCAL_FILE_PATH)');
  }
  return opened(textSource(value));
}

function uploadSource(file: UploadedFile): Source {
  const fileName = baseName(file.fileName);
  return {
    fileName,
    declaredMimeType: file.mimeType,
    sizeBytes: file.sizeBytes,
    md5: file.md5,
    sha256: file.sha256,
    sourceUri: fileAddress(file.fileName),
    plainText: false,
    bytes: () => buffer(file.open()),
  };
}

/** The files of an archive under their paths in it; null for a document that is packed as one. */
async function unpackedFiles(file: UploadedFile, nodeSets: readonly string[]): Promise<OpenedInput | null> {
  const archive = await readFileArchive(baseName(file.fileName), await buffer(file.open()));
  if (archive === null) return null;
  const sources = archive.files.map(({ path, content }): Source => {
    const facts = { fileName: baseName(path), sourceUri: fileAddress(path), plainText: false };
    return { ...bytesSource(content, facts), nodeSets };
  });
  return { isWhole: false, sources, unread: archive.unread.map(({ path, error }) => ({ name: path, error })) };
}

function documentSource({ id, fileName, text }: Extract<Input, { readonly kind: 'document' }>): Source {
  const facts = { fileName: baseName(fileName), sourceUri: null, plainText: true };
  return { ...bytesSource(Buffer.from(text.toWellFormed(), 'utf8'), facts), itemId: id };
}

export function textSource(text: string): Source {
  const content = Buffer.from(text.toWellFormed(), 'utf8');
  const md5 = createHash('md5').update(content).digest('hex');
  return bytesSource(content, { fileName: `text_${md5}.txt`, sourceUri: null, plainText: true });
}

function bytesSource(
  content: Uint8Array,
  facts: {
    readonly fileName: string;
    readonly sourceUri: string | null;
    readonly plainText: boolean;
    readonly declaredMimeType?: string;
  },
): Source {
  return {
    ...facts,
    sizeBytes: content.byteLength,
    md5: createHash('md5').update(content).digest('hex'),
    sha256: sha256(content),
    bytes: async () => content,
  };
}

const CODE_HOSTS: ReadonlySet<string> = new Set(['github.com', 'www.github.com', 'gitlab.com', 'bitbucket.org']);
/** First path segments of these hosts that are no owners. */
const SITE_PAGES = /^(?:about|blog|features|pricing|topics|orgs|explore|search|login|sponsors|settings|marketplace)$/iu;

/** `https://github.com/owner/name`: its page is not the repository. */
function isRepository(url: string): boolean {
  const { hostname = '', pathname = '' } = URL.parse(url) ?? {};
  const [owner = '', name = '', ...rest] = pathname.split('/').filter((part) => part !== '');
  if (/\.git$/iu.test(pathname)) return true;
  return CODE_HOSTS.has(hostname) && name !== '' && rest.length === 0 && !SITE_PAGES.test(owner);
}

async function urlSource(url: string, options: SourceOptions, signal: AbortSignal): Promise<Source> {
  if (isRepository(url)) {
    const shown = url.replace(/[?#].*$/u, '').replace(/\/\/[^/@]*@/u, '//');
    const text = `${shown} is a code repository, and this server does not clone repositories: add its files, or the address of a single raw file.`;
    throw engramError('UnsupportedFileTypeError', text);
  }
  const resource = await options.fetcher.fetch(url, signal);
  const content = await buffer(resource.body);
  if (content.byteLength > options.maxBytes) {
    throw engramError('PayloadTooLargeError', `the document at ${url} is larger than ${options.maxBytes} bytes`);
  }
  return bytesSource(content, {
    fileName: baseName(resource.fileName),
    declaredMimeType: resource.mimeType,
    sourceUri: resource.url,
    plainText: false,
  });
}

/** The limit of file systems; the name goes into a header when the file is read back. */
const MAX_NAME_LENGTH = 255;

/** The last segment of a path in either spelling; never empty, never `.` or `..`; a long one keeps its extension. */
export function baseName(path: string): string {
  return segmentsOf(path).at(-1) as string;
}

/** `file:///src/main.ts` for the file of a folder: the folders tell files of one name apart. */
export function fileAddress(path: string): string {
  return `file:///${segmentsOf(path).map(encodeURIComponent).join('/')}`;
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be removed
  const clean = segments.map((segment) => segment.replaceAll(/[\u0000-\u001f\u007f]/g, '').trim());
  const last = clean.at(-1) || 'file';
  return [...clean.slice(0, -1).filter((segment) => segment !== ''), last].map(shortened);
}

function shortened(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const extension = /\.[^.]{1,20}$/.exec(name)?.[0] ?? '';
  return `${name.slice(0, MAX_NAME_LENGTH - extension.length)}${extension}`.toWellFormed();
}

/** Without the last extension: `report.final.pdf` → `report.final`. */
export function stem(fileName: string): string {
  const dot = fileName.lastIndexOf('.');
  return dot > 0 ? fileName.slice(0, dot) : fileName;
}
