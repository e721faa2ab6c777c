import { List, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { engram } from '../api.ts';
import { Failed } from '../states.tsx';

interface LearnedProps {
  readonly dataset: string | null;
  readonly sessions: readonly string[];
  /** Read again when it changes. */
  readonly after?: unknown;
}

/** Knowledge from sessions: documents that improve made of them, and lines that guide their later answers. */
export function Learned({ dataset, sessions, after }: LearnedProps) {
  const learned = useQuery({
    queryKey: ['learned', dataset, sessions, after],
    queryFn: async () => {
      const guidance = sessions.flatMap((session) => ['qa', 'agent'].map((profile) => guidanceOf(session, profile)));
      const [documents, ...texts] = await Promise.all([documentsOf(dataset, sessions), ...guidance]);
      return [...new Set([...documents, ...texts.flat()])];
    },
    enabled: sessions.length > 0,
    placeholderData: keepPreviousData,
  });
  if (learned.isError) return <Failed error={learned.error} />;
  if (learned.data === undefined || learned.data.length === 0) return null;
  return (
    <Stack component="section" aria-label="What was learned" gap="xs">
      <Title order={2} size="h4">
        What was learned
      </Title>
      <List spacing={4}>
        {learned.data.map((text) => (
          <List.Item key={text}>
            <Text size="sm" className="answer">
              {text}
            </Text>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

const QUESTION = 'What was learned?';

async function documentsOf(dataset: string | null, sessions: readonly string[]): Promise<readonly string[]> {
  if (dataset === null) return [];
  const found = await engram.recall(QUESTION, {
    datasetIds: [dataset],
    searchType: 'CHUNKS',
    scope: 'graph',
    topK: 50,
    nodeName: sessions.map((session) => `session_learnings:${session}`),
  });
  return found.flatMap((item) =>
    'text' in item && item.source === 'graph' ? [item.text.replace(/^#.*\n+/, '').trim()] : [],
  );
}

/** The statements of the guidance, without its headings and times. */
async function guidanceOf(sessionId: string, contextProfile: string): Promise<readonly string[]> {
  const found = await engram.recall(QUESTION, { sessionId, contextProfile, scope: 'session_context' });
  const texts = found.flatMap((item) => (item.source === 'session_context' ? [item.content] : []));
  return texts.flatMap((text) => [...text.matchAll(/^- (?:\[[\d:]+\] )?(.+)$/gm)].map(([, line = '']) => line));
}
