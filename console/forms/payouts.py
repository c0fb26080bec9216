"""The form of one payout."""

from console.forms.fields import Form, Pressed


class PayoutForm(Form):
    """Look it up, or note that somebody took care of it."""

    handled = Pressed()
