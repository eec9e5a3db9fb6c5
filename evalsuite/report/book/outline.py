"""The outline of the 天枢 report: 1 简介 · 2 背景介绍 · 3–7 its models · 8 问题.
A model without data keeps its number; what the outline does not know follows from 9, and then the annex."""

from dataclasses import dataclass

INTRODUCTION, BACKGROUND, PROBLEMS, OWN, MODELS = "intro", "background", "problems", "own", "models"
LANGUAGE = "language"
FREE_PLACES = {"introduction": INTRODUCTION, "background": BACKGROUND, "problems": PROBLEMS}
ANNEX = (  # what no chapter of that report is, in its usual order
    *("steptime", "usage", "convergence", "variants", "forecasts"),
    *("fairness", "quality", "reproduction", "glossary"),
)
TIANSHU_FIXED = (INTRODUCTION, BACKGROUND, MODELS, PROBLEMS)
ORDERED = (*TIANSHU_FIXED, LANGUAGE, *ANNEX, OWN)


@dataclass(frozen=True, kw_only=True)
class ModelChapter:
    key: str  # also the place of sections that a lab adds to it
    number: str
    models: tuple[str, ...]  # by their names in cases; further ones of the kind are n.2, n.3 …


MODEL_CHAPTERS = (
    ModelChapter(key="resnet50", number="3", models=("resnet50_v1.5", "resnet50_v1")),
    ModelChapter(key="bert", number="4", models=("bert_base",)),
    ModelChapter(key="face", number="5", models=("arcface", "face_r100", "face_mbf", "face_r50", "face_tiny")),
    ModelChapter(key="gpt2", number="6", models=("gpt2", "gpt2_345m", "gpt2_498m")),
    ModelChapter(key="wide_deep", number="7", models=("wide_and_deep", "wide_and_deep_tiny")),
)
