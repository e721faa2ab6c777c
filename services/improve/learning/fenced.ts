export { FENCE_RULE, fenced } from '../../common/domain/fenced.ts';
