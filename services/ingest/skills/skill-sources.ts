import { buffer } from 'node:stream/consumers';
import { engramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { declaredName } from './read-skill.ts';

/** A text that is to become a skill, and where it stands. */
export interface SkillSource {
  readonly name: string;
  /** Relative, with `/`. */
  readonly folder: string;
  readonly text: string;
}

/** Uploads win over a text; a request with neither asks for nothing. */
export async function formSources(
  files: readonly UploadedFile[],
  {
    skillsText,
    skillName,
  }: { readonly skillsText?: string | null | undefined; readonly skillName?: string | null | undefined },
): Promise<readonly SkillSource[]> {
  if (files.length > 0) return uploadedSources(files);
  if (skillsText !== undefined && skillsText !== null && skillsText !== '')
    return inlineSource(skillsText, skillName ?? null);
  throw new HttpError(409, {
    error: "An error occurred during remember: content_type 'skills' needs files in 'data' or text in 'skills_text'.",
  });
}

const DEFAULT_NAME = 'skill';
const SKILL_FILE = /(?:^|\/)SKILL\.md$/iu;
/** Where uploads stand that are no `SKILL.md`. */
const SINGLE_FILES = '__canonical_skills__';
const MAX_SKILLS_PER_REQUEST = 200;
const MAX_FILE_BYTES = 256 * 1024;

/** A text of a request; blank ones are no skill. The name is the last segment of what the caller calls it. */
export function inlineSource(text: string, skillName: string | null): readonly SkillSource[] {
  if (text.trim() === '') return [];
  const segments = (skillName ?? '').split(/[/\\]/u).filter((segment) => segment.trim() !== '');
  const name = segments.at(-1)?.trim() ?? DEFAULT_NAME;
  return [{ name, folder: name, text }];
}

/**
 * Skills of uploaded folders: every `SKILL.md` is one, named after its folder (at the top: as its front matter says); files
 * beside them belong to them and are not read. Without any `SKILL.md` every file is a skill of its own.
 */
async function uploadedSources(files: readonly UploadedFile[]): Promise<readonly SkillSource[]> {
  const named = files.map((file) => ({ file, path: checkedPath(file.fileName) }));
  const skillFiles = named.filter(({ path }) => SKILL_FILE.test(path));
  const chosen = skillFiles.length > 0 ? skillFiles : named;
  if (chosen.length > MAX_SKILLS_PER_REQUEST) {
    throw engramError('PayloadTooLargeError', `One request takes at most ${MAX_SKILLS_PER_REQUEST} skills.`);
  }
  const sources: SkillSource[] = [];
  for (const [index, { file, path }] of chosen.entries()) {
    const text = await textOf(file);
    if (text.trim() === '') continue;
    sources.push(skillFiles.length > 0 ? folderSource(path, text) : singleSource(index, text));
  }
  return sources;
}

function folderSource(path: string, text: string): SkillSource {
  const folders = path.split('/').slice(0, -1);
  const [source] = folders.length === 0 ? inlineSource(text, declaredName(text)) : [];
  return source ?? { name: folders.at(-1) ?? DEFAULT_NAME, folder: folders.join('/'), text };
}

function singleSource(index: number, text: string): SkillSource {
  const name = `skill-${String(index).padStart(4, '0')}`;
  return { name, folder: `${SINGLE_FILES}/${name}`, text };
}

/** Names of clients are never paths of ours; one that climbs is refused all the same, for it means something else. */
function checkedPath(fileName: string): string {
  const segments = fileName.replaceAll('\\', '/').split('/');
  if (segments.includes('..')) {
    throw new HttpError(409, {
      error: `Invalid request data for remember operation: Invalid skill filename: ${fileName}`,
    });
  }
  return segments.filter((segment) => segment !== '' && segment !== '.').join('/');
}

async function textOf(file: UploadedFile): Promise<string> {
  if (file.sizeBytes > MAX_FILE_BYTES) {
    throw engramError('PayloadTooLargeError', `A skill file is limited to ${MAX_FILE_BYTES} bytes.`);
  }
  const bytes = await buffer(file.open());
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw engramError('UnreadableFileContentError', `The skill file '${file.fileName}' is not UTF-8 text.`, { cause });
  }
}
