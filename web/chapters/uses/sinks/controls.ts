import { choice, linear, number } from '../../../state/control';

/** The controls of the lab `attention-sinks`. */
export const sinkControls = {
  sink_chart: choice(
    'Left chart',
    {
      values: 'norm of the sink’s value',
      tags: 'direction of the tag',
      direction: 'sink direction removed',
      moved: 'first token moved',
    },
    'What the left chart shows of heads or layers',
  ),
  sink_threshold: number('sink_threshold', 'Sink threshold', linear(0, 1), {
    help: 'Mean attention to the first token above which a head counts as a sink',
  }),
};
