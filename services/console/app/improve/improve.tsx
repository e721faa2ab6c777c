import { Button, Checkbox, MultiSelect, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { engram } from '../api.ts';
import { ago } from '../format.ts';
import { afterRun, usePermitted } from '../queries.ts';
import { StageTable, useRuns } from '../runs.tsx';
import { Failed } from '../states.tsx';
import { Learned } from './learned.tsx';

/** Sessions whose lessons are shown, newest first. */
const MOST_LEARNED = 10;

/** Lets the dataset learn from what people asked, answered and rated. */
export function Improve({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const [chosen, setChosen] = useState<string[]>([]);
  const [context, setContext] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [stages, setStages] = useState<ComponentProps<typeof StageTable>['stages'] | null>(null);
  const sessions = useQuery({
    queryKey: ['sessions', 'of', dataset],
    queryFn: () => engram.get('/api/v1/sessions', { query: { range: 'all', limit: 200, labels: true } }),
  });
  // Improves that start by themselves teach something, too.
  const [lastRun] = useRuns({ dataset, pipeline: 'improve' }).data ?? [];
  const own = (sessions.data?.sessions ?? []).filter(({ dataset_id: id }) => id === dataset);
  const start = async () => {
    setRunning(true);
    setError(null);
    try {
      const answer = await engram.post('/api/v1/improve', {
        body: { datasetId: dataset, sessionIds: chosen, buildGlobalContextIndex: context },
      });
      setStages(answer.stages);
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setRunning(false);
      afterRun(client);
      void client.invalidateQueries({ queryKey: ['learned'] });
    }
  };
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        Improve writes what sessions found out into the dataset, raises what was rated well, and lowers what was rated
        badly.
      </Text>
      {mayWrite ? (
        <Stack gap="sm" align="flex-start">
          <MultiSelect
            w="100%"
            label="Sessions to learn from"
            placeholder={own.length === 0 ? 'There are no sessions on this dataset yet' : 'Choose sessions'}
            data={own.map(({ session_id: id, label, last_activity_at: at }) => ({
              value: id,
              label: `${label ?? id} (${ago(at)})`,
            }))}
            value={chosen}
            onChange={setChosen}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Choose none' }}
          />
          <Checkbox
            label="Summarise the whole dataset, for questions about all of it"
            checked={context}
            onChange={(event) => setContext(event.currentTarget.checked)}
          />
          <Button onClick={() => void start()} loading={isRunning} disabled={chosen.length === 0 && !context}>
            Improve
          </Button>
        </Stack>
      ) : null}
      {error === null ? null : <Failed error={error} />}
      {stages === null ? null : <StageTable stages={stages} />}
      {isRunning ? null : (
        <Learned
          dataset={dataset}
          sessions={own.map(({ session_id: id }) => id).slice(0, MOST_LEARNED)}
          after={lastRun?.id}
        />
      )}
    </Stack>
  );
}
