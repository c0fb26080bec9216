"""Pages of the console that belong to no single rule, under /console/."""

from django.urls import path, register_converter

from console import definition_views, macro_views, policy_views


class Digest:
    """A SHA-256 in an address."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Digest, "digest")

urlpatterns = [
    path("definitions/", definition_views.definitions, name="definitions"),
    path("definitions/<digest:digest>/", definition_views.definition, name="definition"),
    path("definitions/<digest:digest>/use/", definition_views.use, name="definition-use"),
    path("policy/edit/", policy_views.edit, name="policy-edit"),
    path("policy/<int:number>/withdraw/", policy_views.withdraw, name="policy-withdraw"),
    path("policy/<int:number>/simulation/", policy_views.simulation, name="policy-simulation"),
    path("policy/<int:number>/simulation/step/", policy_views.simulation_step, name="policy-simulation-step"),
    path("macros/", macro_views.macro_list, name="macros"),
    path("macros/new/", macro_views.macro, name="macro-new"),
    path("macros/<int:number>/", macro_views.macro, name="macro"),
    path("macros/reasons/<slug:code>/", macro_views.reason, name="reason"),
]
