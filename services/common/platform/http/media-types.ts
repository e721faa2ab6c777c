import { createRequire } from 'node:module';

/**
 * Stands for `mime-types` (see `services/app/loading.mjs`), of which Koa and its parts load three copies, each with the whole
 * register of media types: 30 ms of start time for what no answer needs, since ours name their content type themselves.
 * The library is loaded when somebody asks it after all.
 */
interface MediaTypes {
  charset(type: string): string | false;
  contentType(type: string): string | false;
  extension(type: string): string | false;
  lookup(path: string): string | false;
}

const load = createRequire(import.meta.url);
const library = () => load('mime-types') as MediaTypes;

export const charset: MediaTypes['charset'] = (type) => library().charset(type);
export const contentType: MediaTypes['contentType'] = (type) => library().contentType(type);
export const extension: MediaTypes['extension'] = (type) => library().extension(type);
export const lookup: MediaTypes['lookup'] = (path) => library().lookup(path);
