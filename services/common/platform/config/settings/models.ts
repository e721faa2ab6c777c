import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, flag, optional, secret, setting } = rowsOf('Models');

export const models = {
  llmProvider: optional('LLM_PROVIDER', {
    type: type.text().transform((value) => value.trim().toLowerCase()),
    shownDefault: 'the first part of `LLM_MODEL`, else `openai` once a key or endpoint is set',
    meaning:
      'openai, anthropic, gemini, mistral, ollama, or custom for any OpenAI-compatible server (it needs the endpoint).',
  }),
  llmModel: optional('LLM_MODEL', {
    type: type.text(),
    shownDefault: 'by provider',
    meaning: 'Model name; a provider prefix as in `openai/gpt-5-mini` is understood.',
  }),
  llmEndpoint: address(
    'LLM_ENDPOINT',
    'Base URL of the provider. With neither this nor a key, nor a provider, no language model is used.',
  ),
  llmApiKey: secret('LLM_API_KEY', 'Its key.'),
  llmTemperature: optional('LLM_TEMPERATURE', {
    type: type.number({ min: 0, max: 2 }),
    shownDefault: 'the provider’s',
    meaning: 'Sampling temperature; sent only when set, because some models refuse it.',
  }),
  llmAnswerStreaming: flag(
    'LLM_ANSWER_STREAMING',
    'false',
    'A streamed recall sends the answer in pieces while the model writes it.',
  ),
  llmMaxCompletionTokens: setting('LLM_MAX_COMPLETION_TOKENS', {
    type: type.integer({ min: 1 }),
    default: '16384',
    meaning: 'Greatest number of tokens of one answer of the model. Not sent: half of it bounds a chunk.',
  }),
  tenantModelHosts: setting('ENGRAM_TENANT_MODEL_HOSTS', {
    type: type.hostList(),
    default: '',
    meaning:
      'Hosts on private networks that the models of `Tenant` resources may be on, as in `vllm.models.svc:8000,10.0.0.7`; without a port all of its ports. Their models are else asked at public addresses only. Says nothing about the models of the server.',
  }),
  embeddingProvider: optional('EMBEDDING_PROVIDER', {
    type: type.text().transform((value) => value.trim().toLowerCase()),
    shownDefault: '`openai` once a key, endpoint or model is set',
    meaning:
      'openai, gemini, mistral, ollama, or custom for any OpenAI-compatible server (it needs the endpoint). Nothing set = the built-in embedder. A dataset with vectors keeps the model that made them (the log of cognify says so), until its memory is forgotten (`engram forget --memory-only`) and built again, or its `Dataset` resource moves it.',
  }),
  embeddingModel: optional('EMBEDDING_MODEL', {
    type: type.text(),
    shownDefault: '`text-embedding-3-large`',
    meaning: 'Model name.',
  }),
  embeddingDimensions: optional('EMBEDDING_DIMENSIONS', {
    type: type.integer({ min: 1, max: 65_536 }),
    shownDefault: 'by model, else 3072',
    meaning: 'Length of its vectors. A dataset keeps the dimensions that it was made with.',
  }),
  embeddingEndpoint: address(['EMBEDDING_ENDPOINT', 'EMBEDDING_API_BASE'], 'Base URL of the provider.'),
  embeddingApiKey: optional('EMBEDDING_API_KEY', {
    type: type.text(),
    secret: true,
    shownDefault: '`LLM_API_KEY`',
    meaning: 'Its key.',
  }),
  embeddingBatchSize: setting('EMBEDDING_BATCH_SIZE', {
    type: type.integer({ min: 1, max: 2_048 }),
    default: '32',
    meaning: 'Texts per call.',
  }),
  embeddingMaxCompletionTokens: setting('EMBEDDING_MAX_COMPLETION_TOKENS', {
    type: type.integer({ min: 1 }),
    default: '4096',
    meaning: 'Greatest number of tokens of one embedded text; bounds the chunk size.',
  }),
};
