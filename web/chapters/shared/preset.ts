import type { Values } from '../../state/control';
import type { FigureId } from '../../ui/registry';

/** A state of a view worth seeing, offered beside the figure that shows it. */
export interface Preset<S extends Values = Values, Numbers = never> {
  /** Its name in sentences and in the file of values; unique in its view. */
  id: string;
  figure: FigureId;
  /** What its link says. */
  name: string;
  /**
   * HTML, what there is to see. `{pure.residual.12}` is a number that is measured when the page is built:
   * of the preset `pure` the residual after layer 12.
   */
  text: string;
  /** What differs from where the view begins. */
  state: Partial<S>;
  /** Its place in the tour of the figure, from 1 on; none for a preset outside of it. */
  step?: number;
  /** Parameters that may differ while the preset still counts as chosen. */
  free?: readonly (keyof S & string)[];
  /** What the text claims of the numbers measured. */
  claim(measured: Numbers): boolean;
}

/** A state whose numbers the prose of a view tells, although no link opens it. */
export type Fact<S extends Values = Values, Numbers = never> = Pick<Preset<S, Numbers>, 'id' | 'state' | 'claim'>;
