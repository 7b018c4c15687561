interface Measure {
  kind: 'length' | 'area' | 'weight' | 'volume' | 'speed' | 'temperature' | 'time' | 'data'
  /** In the kind's own unit: metre, square metre, gram, litre, metre a second, kelvin, second, byte. */
  each: number
  zero?: number
  sign: string
}

const measure = (kind: Measure['kind'], each: number, sign: string, zero = 0): Measure => ({ kind, each, sign, zero })

/** Units by stable names; cups, pints, gallons and spoons are those of the United States. */
export const MEASURES: Readonly<Record<string, Measure>> = {
  millimetre: measure('length', 0.001, 'mm'),
  centimetre: measure('length', 0.01, 'cm'),
  metre: measure('length', 1, 'm'),
  kilometre: measure('length', 1_000, 'km'),
  inch: measure('length', 0.0254, 'in'),
  foot: measure('length', 0.3048, 'ft'),
  yard: measure('length', 0.9144, 'yd'),
  mile: measure('length', 1_609.344, 'mi'),
  nautical_mile: measure('length', 1_852, 'nmi'),
  square_metre: measure('area', 1, 'm²'),
  square_kilometre: measure('area', 1e6, 'km²'),
  square_foot: measure('area', 0.3048 ** 2, 'ft²'),
  square_mile: measure('area', 1_609.344 ** 2, 'mi²'),
  hectare: measure('area', 10_000, 'ha'),
  acre: measure('area', 4_046.8564224, 'acres'),
  milligram: measure('weight', 0.001, 'mg'),
  gram: measure('weight', 1, 'g'),
  kilogram: measure('weight', 1_000, 'kg'),
  tonne: measure('weight', 1e6, 't'),
  ounce: measure('weight', 28.349523125, 'oz'),
  pound: measure('weight', 453.59237, 'lb'),
  stone: measure('weight', 6_350.29318, 'st'),
  millilitre: measure('volume', 0.001, 'ml'),
  centilitre: measure('volume', 0.01, 'cl'),
  decilitre: measure('volume', 0.1, 'dl'),
  litre: measure('volume', 1, 'l'),
  teaspoon: measure('volume', 0.00492892159375, 'tsp'),
  tablespoon: measure('volume', 0.01478676478125, 'tbsp'),
  fluid_ounce: measure('volume', 0.0295735295625, 'fl oz'),
  cup: measure('volume', 0.2365882365, 'cups'),
  pint: measure('volume', 0.473176473, 'pt'),
  quart: measure('volume', 0.946352946, 'qt'),
  gallon: measure('volume', 3.785411784, 'gal'),
  metre_per_second: measure('speed', 1, 'm/s'),
  kilometre_per_hour: measure('speed', 1 / 3.6, 'km/h'),
  mile_per_hour: measure('speed', 0.44704, 'mph'),
  knot: measure('speed', 1_852 / 3_600, 'kn'),
  celsius: measure('temperature', 1, '°C', 273.15),
  fahrenheit: measure('temperature', 5 / 9, '°F', 459.67 * (5 / 9)),
  kelvin: measure('temperature', 1, 'K'),
  second: measure('time', 1, 's'),
  minute: measure('time', 60, 'min'),
  hour: measure('time', 3_600, 'h'),
  day: measure('time', 86_400, 'd'),
  week: measure('time', 604_800, 'weeks'),
  year: measure('time', 31_557_600, 'years'),
  byte: measure('data', 1, 'B'),
  kilobyte: measure('data', 1e3, 'kB'),
  megabyte: measure('data', 1e6, 'MB'),
  gigabyte: measure('data', 1e9, 'GB'),
  terabyte: measure('data', 1e12, 'TB'),
}

/** Null where the two measure different things. */
export function convert(amount: number, from: string, to: string): number | null {
  const [source, target] = [MEASURES[from], MEASURES[to]]
  if (!source || !target || source.kind !== target.kind) return null
  return (amount * source.each + (source.zero ?? 0) - (target.zero ?? 0)) / target.each
}
