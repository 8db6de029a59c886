// Mathematical symbols and their names in TeX.

/** Functions whose TeX command has the same name. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim max min sup inf det dim ker gcd deg arg hom Pr".split(
    " ",
  ),
);

/** Operators with limits below and above. */
export const LARGE_OPERATORS: ReadonlySet<string> = new Set([..."∑∏∐∫∬∭∮⋃⋂⨁⨂⋁⋀⨆"]);

/** Accents above. */
export const OVER: ReadonlyMap<string, string> = new Map([
  ["^", "\\hat"],
  ["ˆ", "\\hat"],
  ["˜", "\\tilde"],
  ["~", "\\tilde"],
  ["¯", "\\bar"],
  ["ˉ", "\\bar"],
  ["‾", "\\overline"],
  ["―", "\\overline"],
  ["_", "\\overline"],
  ["→", "\\vec"],
  ["⃗", "\\vec"],
  ["˙", "\\dot"],
  [".", "\\dot"],
  ["¨", "\\ddot"],
  ["ˇ", "\\check"],
  ["˘", "\\breve"],
  ["⏞", "\\overbrace"],
]);

/** Accents below. */
export const UNDER: ReadonlyMap<string, string> = new Map([
  ["_", "\\underline"],
  ["‾", "\\underline"],
  ["¯", "\\underline"],
  ["⏟", "\\underbrace"],
]);

const COMMANDS: ReadonlyMap<string, string> = new Map(
  (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu ν nu ξ xi " +
    "π pi ρ rho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi " +
    "Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⨁ bigoplus " +
    "⨂ bigotimes ⋁ bigvee ⋀ bigwedge ⨆ bigsqcup ∂ partial ∇ nabla ∞ infty ± pm ∓ mp × times · cdot ⋅ cdot ÷ div ∗ ast ⋆ star ∘ circ " +
    "≤ le ⩽ leqslant ≥ ge ⩾ geqslant ≠ ne ≈ approx ≃ simeq ≅ cong ≡ equiv ∼ sim ∝ propto ≪ ll ≫ gg ∈ in ∉ notin ∋ ni ⊂ subset " +
    "⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∖ setminus ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊕ oplus ⊗ otimes " +
    "→ to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⟹ Longrightarrow ⇐ Leftarrow ⇔ Leftrightarrow ⟺ iff ↦ mapsto ⟶ longrightarrow " +
    "⟨ langle ⟩ rangle 〈 langle 〉 rangle ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor ‖ Vert ∥ parallel ⊥ perp ∠ angle … dots ⋯ cdots " +
    "⋮ vdots ⋱ ddots ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph † dagger ‡ ddagger ∣ mid ⊢ vdash ⊨ models √ surd ℝ mathbb{R} ℕ mathbb{N} " +
    "ℤ mathbb{Z} ℚ mathbb{Q} ℂ mathbb{C}"
  )
    .split(" ")
    .flatMap((sign, at, all) => (at % 2 === 0 ? [[sign, `\\${all[at + 1]}`] as const] : [])),
);
/** Invisible operators of MathML. */
const UNSEEN = /[\u2061-\u2064\u200b]/;

/** The TeX command of a symbol; undefined if the symbol is written as it is. */
export function commandOf(sign: string): string | undefined {
  if (UNSEEN.test(sign)) return "";
  if (sign === "−") return "-";
  if (sign === "′") return "'";
  return COMMANDS.get(sign);
}
