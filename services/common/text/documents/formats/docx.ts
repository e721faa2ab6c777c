import { zipSync } from 'fflate';
import mammoth from 'mammoth';
import type { DocumentDraft } from './draft.ts';
import { readHtmlFragment } from './html-page.ts';
import type { ParseContext } from './limits.ts';
import { packageProperties } from './package-parts.ts';
import type { ZipArchive } from './zip-archive.ts';

const STYLE_MAP = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => h2:fresh",
  "p[style-name='Quote'] => blockquote > p:fresh",
  "p[style-name='Intense Quote'] => blockquote > p:fresh",
  "p[style-name='Code'] => pre:separator('\\n')",
  "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
];

/** Reads headings by style, paragraphs, lists, tables, foot- and endnotes, without pictures and deleted revisions. */
export async function readDocx(archive: ZipArchive, context: ParseContext): Promise<DocumentDraft> {
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(textParts(archive)) },
    { styleMap: STYLE_MAP, convertImage: mammoth.images.imgElement(async () => ({ src: '' })) },
  );
  const properties = packageProperties(archive, context);
  const blocks = readHtmlFragment(value, context).map((block) => ({
    ...block,
    text: block.text.replaceAll(/ ?↑$/gm, ''),
  }));
  const heading = blocks.find((block) => block.kind === 'heading')?.text ?? null;
  return { blocks, title: properties['title'] ?? heading, metadata: properties };
}

/**
 * Repacks the parts with text without compression: mammoth unpacks without limits, so the archive is unpacked here first,
 * under our limits.
 */
function textParts(archive: ZipArchive): Uint8Array {
  const parts: Record<string, Uint8Array> = {};
  for (const name of archive.names) {
    if (!/\.(xml|rels)$/i.test(name) || name.startsWith('customXml/')) continue;
    const part = archive.read(name);
    if (part !== null) {
      refuseEntities(part, name);
      parts[name] = part;
    }
  }
  return zipSync(parts, { level: 0 });
}

function refuseEntities(part: Uint8Array, name: string): void {
  if (Buffer.from(part.buffer, part.byteOffset, part.byteLength).includes('<!ENTITY'))
    throw new Error(`${name} declares entities`);
}
